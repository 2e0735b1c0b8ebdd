package virtual

// AnswerInLua has this process answer all scripts in Lua from now on.
func AnswerInLua() { natives = nil }
