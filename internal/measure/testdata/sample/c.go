package sample

const c = "c"
