"""Drawing on video frames and pictures: planes, letters, where balls are at a time."""
