package sample

func notCounted() {}
