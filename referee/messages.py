"""Message catalogues: everything people read or hear, in English, Hungarian and Estonian."""
def hinge(code, **values):
    return f"{code} {values}"
