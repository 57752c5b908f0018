// The size limits of a program's message, for every carrier: a line of a pipe, an event of a stream, a frame of a
// socket.

/**
 * One line of a program, and one message or answer of a server over HTTP. A longer one is skipped, or ends the stream.
 */
export const MAX_MESSAGE_BYTES = 16 * 1_048_576

/** One frame between a shim and the daemon: a message of 1 MiB of characters that JSON writes as six each. */
export const MAX_FRAME_BYTES = 8 * 1_048_576

/** Values in one message. A host that returns with 10,000 turns sends 60,000. Parsing millions takes a second. */
const MOST_VALUES = 75_000
/** Levels in one message, so that recursive code does not run out of stack. */
const MOST_DEPTH = 200
/** A shorter text cannot exceed the limits. */
const SMALL_CHARS = 1_024

export class TooComplex extends Error {}

/**
 * Returns the JSON value of a message. The text is checked before it is parsed. Throws `TooComplex` for more than 200
 * levels or more than 75,000 values, and `SyntaxError` for invalid JSON.
 */
export function readMessage(text: string): unknown {
  checkMessage(text)
  return JSON.parse(text)
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENS = 0x7b
const CLOSES = 0x7d
/** Turns a bracket into a brace. */
const BRACE = 0x20

/** Throws `TooComplex`, as `readMessage` does. The parser reports any other problem. */
export function checkMessage(text: string): void {
  if (text.length < SMALL_CHARS) return
  let depth = 0
  let values = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (isInText) {
      if (char === BACKSLASH) at += 1
      else if (char === QUOTE) isInText = false
    } else if (char === QUOTE) isInText = true
    else if (char === COMMA) values += 1
    else if ((char | BRACE) === OPENS) {
      values += 1
      depth += 1
      if (depth > MOST_DEPTH) throw new TooComplex(`it is nested in more than ${MOST_DEPTH} levels`)
    } else if ((char | BRACE) === CLOSES) depth -= 1
    if (values > MOST_VALUES) throw new TooComplex(`it holds more than ${MOST_VALUES} values`)
  }
}
