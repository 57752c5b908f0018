// How long and how full one message of a program may be, whatever carries it: a line of a pipe, an event of a stream, a frame
// of a socket.

/** One line of a program, and one message or answer of a server over HTTP. Longer ones are skipped or end the stream. */
export const MAX_MESSAGE_BYTES = 16 * 1_048_576

/** One frame between a shim and the daemon: a message of 1 MiB of characters that JSON writes as six each. */
export const MAX_FRAME_BYTES = 8 * 1_048_576

/** Values in one message: a host that comes back with 10,000 turns says 60,000. Millions of them take a second to build. */
const MOST_VALUES = 75_000
/** Levels in one message. Whoever walks through it must not run out of stack. */
const MOST_DEPTH = 200
/** A shorter text cannot hold enough to matter. */
const SMALL_CHARS = 1_024

export class TooComplex extends Error {}

/**
 * The JSON value of a message. The text is looked through before anything is built of it. Throws `TooComplex` when it is
 * nested in more than 200 levels or holds more than 75,000 values, and `SyntaxError` when it is no JSON.
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
/** Of a bracket it makes the brace. */
const BRACE = 0x20

/** Throws `TooComplex`, as `readMessage` does. Anything else that is wrong is left to whoever parses the text. */
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
