// Messages of PostgreSQL's extended protocol, written in sequence into one buffer.
import type { Param } from '../statement.ts'
import { asParameter } from './many-rows.ts'

const PARSE = 0x50
const DESCRIBE = 0x44
const BIND = 0x42
const EXECUTE = 0x45
const SYNC = 0x53
const STATEMENT = 0x53
const NULL = -1
const AS_TEXT = 0
const AS_BYTES = 1
/** The maximum number of bytes per UTF-16 unit. */
const MOST_BYTES = 3

export interface Message {
  /** Names a statement and asks for a description of its result. */
  parse(name: string, text: string): void
  /** Runs a named statement with these values. */
  run(name: string, values: readonly (Param | undefined)[]): void
  /** Ends the message. The server answers everything before it reads on. */
  sync(): Buffer
}

let memory = Buffer.allocUnsafeSlow(1 << 16)

/** Creates a message. Only one at a time, because all share one buffer. */
export function createMessage(): Message {
  let at = 0
  const room = (bytes: number): void => {
    if (at + bytes <= memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(memory.length * 2, at + bytes))
    memory.copy(larger, 0, 0, at)
    memory = larger
  }
  const begin = (kind: number): number => {
    room(16)
    memory[at++] = kind
    at += 4
    return at - 4
  }
  /** The length is known now. It includes its own field. */
  const end = (from: number): void => void memory.writeInt32BE(at - from, from)
  const int16 = (value: number): void => {
    room(2)
    at = memory.writeInt16BE(value, at)
  }
  const int32 = (value: number): void => {
    room(4)
    at = memory.writeInt32BE(value, at)
  }
  const word = (text: string): void => {
    room(text.length * MOST_BYTES + 1)
    at += memory.write(text, at, 'utf8')
    memory[at++] = 0
  }
  const value = (given: Param | undefined): void => {
    if (given === null || given === undefined) int32(NULL)
    else if (given instanceof Uint8Array) {
      int32(given.length)
      room(given.length)
      memory.set(given, at)
      at += given.length
    } else {
      const text = String(asParameter(given))
      room(4 + text.length * MOST_BYTES)
      const length = memory.write(text, at + 4, 'utf8')
      memory.writeInt32BE(length, at)
      at += 4 + length
    }
  }
  return {
    parse(name, text) {
      const parse = begin(PARSE)
      word(name)
      word(text)
      int16(0)
      end(parse)
      const describe = begin(DESCRIBE)
      memory[at++] = STATEMENT
      word(name)
      end(describe)
    },
    run(name, values) {
      const bind = begin(BIND)
      word('')
      word(name)
      int16(values.length)
      for (const one of values) int16(one instanceof Uint8Array ? AS_BYTES : AS_TEXT)
      int16(values.length)
      for (const one of values) value(one)
      int16(1)
      int16(AS_TEXT)
      end(bind)
      const execute = begin(EXECUTE)
      word('')
      int32(0)
      end(execute)
    },
    sync() {
      end(begin(SYNC))
      return Buffer.from(memory.subarray(0, at))
    },
  }
}
