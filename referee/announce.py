def announce(ruling, full=False):
    return {"en": "", "hu": "", "et": ""}
