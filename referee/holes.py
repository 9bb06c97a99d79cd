"""What the texts leave open, and what the referee does there; printed on the reference page."""

from __future__ import annotations

#: Clause -> what is silent or torn, and the choice an experienced referee would make.
HOLES: tuple[tuple[str, str], ...] = (
    ("1.2", "A lag that never reaches the foot cushion is bad, like one that touches it twice."),
    (
        "1.2",
        "Balls nearer alike than 1 mm cannot be told apart: lag again. A place that is not known cannot be told either.",
    ),
    ("1.2", "In a corner pocket's jaws past the nose: within 9 cm of the corner and with its edge past the nose line."),
    ("1.2", "A lag struck late is played again even if another fault was made on it."),
    (
        "1.4",
        "Several balls are spotted in ascending order; the gap to the cue ball is 1 mm. A cue ball that comes in hand is not in the way.",
    ),
    ("1.5", "A spot request needs the places of all legal balls; where one is not known it is refused."),
    (
        "1.6",
        "A shot is obvious if the cue ball goes straight to a ball and that ball straight into a pocket; a rail named by that pocket within 0.25 s (or 15 cm) of it is its jaws.",
    ),
    ("1.6", "Calling an opponent's ball in 8-ball is allowed and keeps no turn."),
    (
        "1.7, 8.3",
        "A pocket event five seconds or more after everything else is a ball that hung: it is put back. The referee sees to it that nobody plays within those five seconds.",
    ),
    (
        "1.9",
        "A replayed shot keeps its number; the shot played instead has the next one. A position that cannot be restored is entered as a stalemate.",
    ),
    (
        "1.12",
        "Turns are counted from the announcement; a ball legally pocketed is progress and ends the count. After three each a person declares it or lets play go on.",
    ),
    ("1.12", "In 14.1 scores and foul counts stand; nobody plays before the lag is decided."),
    (
        "2.1, 9.1",
        "A re-racked break does not change whose turn to break the next rack is: that follows the rack's first breaker.",
    ),
    (
        "2.3, 9.3",
        "Nothing pocketed and fewer than four rails is a foul in 9-ball and 10-ball (the Hungarian text says irregular).",
    ),
    ("2.4", "A choice that nobody answers before the next shot falls to its first option, the one shown in next."),
    ("2.8", "A rack lost by the third foul is over: nothing is spotted on it."),
    ("2.5", "Who won a rack keeps its fouls from nobody: all counts go to zero with the new rack."),
    (
        "3.3",
        "Cases are judged in the order e, f, d, g, h, c. A cue ball off the table counts with a pocketed one in f. An 8 down with another foul (2008) is spotted and case h.",
    ),
    ("3.3", "The 8 of cases e and f is spotted when that is chosen, not before."),
    ("3.3d", "An illegal break with a foul besides: accepting means the cue ball in hand in the kitchen."),
    (
        "3.8",
        "The 8 with any foul loses, not with a scratch alone; on a safety, or not called and not obvious, it loses too.",
    ),
    (
        "3.4 (2025: 4.4)",
        "A group that is claimed for a shot is claimed for that shot only; the 8 must then be hit first and be called.",
    ),
    ("4.3", "A pocketed or lost ball counts as having reached a rail, the cue ball too."),
    ("4.6", "The 15th ball is spotted on the empty apex as long as no racked ball was touched, this shot included."),
    (
        "4.8",
        "The outline is that of the racked balls, rounded at the corners. A 15th ball on the head spot and over the head string follows the table, not paragraph d.1.",
    ),
    ("4.10", "A breaking foul absorbs standard fouls in the Estonian text too, a scratch on it included."),
    (
        "4.11",
        "After the third foul all fifteen are racked and the offender breaks in 2008 too, as est 12 and 2025 7.11 say.",
    ),
    (
        "4.11, est 7.5",
        "A deliberate touch that is the third foul costs sixteen, wipes the count and leaves the choice of 7.5.",
    ),
    (
        "6.",
        "Where it is sure that there was a foul, one way or the other, the likeliest is called. A doubtful further foul that changes nothing is no doubt.",
    ),
    (
        "6.",
        "A shot may say how sure it is which ball is which (`trust`): a foul that rests on it is called only where it is still sure, else put to a person.",
    ),
    (
        "6.1, 8.6",
        "The cue ball touches a pocketed ball if the contact comes more than 0.05 s after that ball went over the edge.",
    ),
    (
        "6.3",
        "After a wrong ball first a rail suffices. Where object balls moved and no contact was seen, a contact is not denied; the ruling says it is unsure.",
    ),
    (
        "6.6",
        "A strike that meets an object ball is a touched ball. A deliberate touch in the WPA's texts is unsporting conduct.",
    ),
    ("6.7", "A second tip contact is for a person to decide."),
    ("6.11", "Both paragraphs need proof: where a place or a rest is not known there is no foul."),
    ("6.12, 3.15", "What an edition does not list is no foul when it is entered."),
    (
        "6.13",
        "A shot out of turn, entered without a name, is the shooter's; with a name it is that player's and the turn goes to his opponent.",
    ),
    (
        "6.14",
        "Unwarned at two (2008), a further foul counts as the second again; a warning may still follow. 8-ball shows the count, nothing comes of it.",
    ),
    (
        "6.16",
        "A serious foul costs the rack in 8, 9 and 10-ball, is as the third foul in 14.1, as 7.5 in the Estonian text. Loss of a rack in 14.1 is loss of the game. A foul before the break leaves the rack to be broken by the opponent.",
    ),
    ("8.3", "A ball bounced out of a pocket if it rests on the cloth or reaches a rail more than 0.1 s later."),
    ("8.4", "A frozen ball counts again for its own rail only where it is said that it left it (leaves_first)."),
    (
        "9.4 to 9.10",
        "The Hungarian text breaks off; safety, hand-back and spotting follow the English book of the time.",
    ),
    (
        "10-ball, 2025",
        "A 10 on the break is spotted and the breaker plays on; it wins only if it was the last object ball when the shot began.",
    ),
    ("est 4", "The racker stands at the foot: his right corner is where x is small."),
    ("est 6", "A cue ball lost on the opening break costs one point if the requirement was met, two if not."),
    (
        "est 7.2",
        "Near means a gap to the nose under one ball's diameter; both running shots must have used just that rail and pocketed nothing. A frozen first ball back on its own rail has reached no other.",
    ),
    (
        "est 7.6",
        "The picture is missing: the table of 4.8 serves. Fouls the text does not name keep their 2008 numbers and penalties.",
    ),
    (
        "Regulation 16",
        "A head rail or head pocket shows that a ball passed the head string, where no crossing is given at all; where one rests past it, always.",
    ),
    (
        "Regulation 18",
        "The extension is one a player and rack, 25 s; the clock itself is the tournament's (35 s where none is named).",
    ),
    (
        "clips",
        "A shot cut off could still have had a scratch (5 %), a rail (15 %) or a pocketed ball (10 %); a first contact may have been cut away (30 %).",
    ),
    (
        "clips",
        "A call nobody heard was what went down: 97 % if obvious, 80 % if it was the ball hit first, 60 % otherwise. Unknown groups are weighed by the balls hit first, 19 to 1 each, and count as known from 97 %.",
    ),
)
