// The frames between a shim and the daemon: one JSON object per line, with its kind in `t`. Both ends check every frame
// here. A frame of the wrong form ends the connection, with the reason.
import { createHash } from 'node:crypto'
import {
  type HeldTurn,
  type HostEvent,
  type HostFacts,
  MAX_FRAME_BYTES,
  MOST_HELD,
  readMessage,
  TooComplex,
} from '../contract/index.ts'

/** Raised when a frame changes its meaning. Ends of different versions refuse each other with an explanation. */
export const ATTACH_VERSION = 1
const MAX_ID = 200
const MAX_KEY = 400
export const MAX_PLACE = 4_096
const MAX_ASKS = 1_000
/** The room for everything around an event's text. */
const ROOM = 65_536

export interface HelloFrame extends Omit<HostFacts, 'client' | 'shim'> {
  readonly t: 'hello'
  readonly v: number
  /** Absent from older shims. Each of their lines is a shim of its own. */
  readonly shim?: string
}

/** Frames of the shim. */
export type ShimFrame =
  | HelloFrame
  /** The host is initialised, so events reach it. `client` is its own name. */
  | { readonly t: 'ready'; readonly client: string | null }
  /** The event or verdict with this number was written to the host's pipe. */
  | { readonly t: 'ok'; readonly n: number }
  | {
      readonly t: 'call'
      readonly id: number
      readonly key: string
      readonly tool: string
      readonly input: unknown
      /** The call was sent before, and proved this turn then. */
      readonly proved?: string | null
    }
  | {
      readonly t: 'ask'
      readonly id: number
      readonly requestId: string
      readonly toolName: string
      readonly description: string
      readonly inputPreview: string
    }
  | { readonly t: 'ping' }
  | { readonly t: 'pong' }

/** Facts about its agent for a host that attaches. Older daemons send fewer. */
export interface WelcomeFacts {
  /** The senders are authenticated, so their verdicts may be relayed. */
  readonly permission: boolean
  /** The agent has channel servers, so the host is offered the tools for them. */
  readonly channels: boolean
  /** Services may lend the agent tools, so the host is offered the tools for them. */
  readonly services: boolean
  /** No reply can be sent to the senders of its messages. */
  readonly oneWay: boolean
}

/** Frames of the daemon. */
export type DaemonFrame =
  | (Partial<WelcomeFacts> & {
      readonly t: 'welcome'
      readonly v: number
      readonly version: string
    })
  | { readonly t: 'refused'; readonly reason: string }
  | {
      readonly t: 'deliver'
      readonly n: number
      readonly turn: string
      readonly session: string
      readonly chatId: string
      readonly messageId: string
      readonly content: string
      readonly meta: Readonly<Record<string, string>>
    }
  | {
      readonly t: 'verdict'
      readonly n: number
      readonly requestId: string
      readonly behavior: 'allow' | 'deny'
    }
  /** What the call proves. It is stored before the call runs, so that a repeat proves nothing else. */
  | { readonly t: 'evidence'; readonly id: number; readonly turn: string | null }
  | {
      readonly t: 'result'
      readonly id: number
      readonly text: string
      readonly isError: boolean
      readonly structured: Readonly<Record<string, unknown>>
      readonly note?: string
      readonly proven: boolean
      readonly done: readonly string[]
      readonly seen: readonly string[]
    }
  /** The request with this id is an approval now. */
  | { readonly t: 'asked'; readonly id: number }
  /** The daemon ends on purpose, so no shim revives it. */
  | { readonly t: 'bye'; readonly reason: string }
  | { readonly t: 'ping' }
  | { readonly t: 'pong' }

export class FrameError extends Error {}

export function encodeFrame(frame: ShimFrame | DaemonFrame): string {
  return `${JSON.stringify(frame)}\n`
}

/** Whether a peer would refuse it, with room for what a repeat adds. */
export function isTooLong(frame: ShimFrame | DaemonFrame): boolean {
  return Buffer.byteLength(JSON.stringify(frame)) > MAX_FRAME_BYTES - 1_024
}

/**
 * Returns a host's key or name in a form that frames accept. One that is too long, or that no store can keep, is
 * replaced by its digest. The same input gives the same result.
 */
export function boundedName(given: string): string {
  if (/^[\x21-\x7e]+$/.test(given) && given.length <= MAX_ID) return given
  return `sha256:${createHash('sha256').update(JSON.stringify(given)).digest('hex')}`
}

/** Whether every shim would refuse the event. */
export function isUndeliverable({ chatId, messageId, content, meta }: HostEvent): boolean {
  if (chatId.length > MAX_PLACE || messageId.length > MAX_PLACE) return true
  let chars = content.length
  for (const key in meta) chars += key.length + (meta[key]?.length ?? 0)
  // JSON writes a character as six at most, so a usual message need not be serialised to be measured.
  return (
    chars * 6 > MAX_FRAME_BYTES - ROOM &&
    Buffer.byteLength(JSON.stringify({ content, meta })) > MAX_FRAME_BYTES - ROOM
  )
}

type Fields = Readonly<Record<string, unknown>>

export function parseShimFrame(line: string): ShimFrame {
  const given = fieldsOf(line)
  switch (given.t) {
    case 'hello':
      return parseHello(given)
    case 'ready':
      return { t: 'ready', client: given.client === null ? null : word(given, 'client') }
    case 'ok':
      return { t: 'ok', n: number(given, 'n') }
    case 'call':
      return {
        t: 'call',
        id: number(given, 'id'),
        key: word(given, 'key', MAX_KEY),
        tool: word(given, 'tool'),
        input: given.input,
        ...(given.proved === undefined
          ? {}
          : { proved: given.proved === null ? null : word(given, 'proved') }),
      }
    case 'ask':
      return {
        t: 'ask',
        id: number(given, 'id'),
        requestId: word(given, 'requestId'),
        toolName: text(given, 'toolName'),
        description: text(given, 'description'),
        inputPreview: text(given, 'inputPreview'),
      }
    case 'ping':
    case 'pong':
      return { t: given.t }
    default:
      throw new FrameError(`there is no frame ${kindOf(given)}`)
  }
}

/** Checks the version first, because the rest of a later version has an unknown meaning. */
function parseHello(given: Fields): HelloFrame {
  const v = number(given, 'v')
  if (v !== ATTACH_VERSION)
    throw new FrameError(`this daemon speaks version ${ATTACH_VERSION} of the frames, the shim ${v}`)
  const { dialect, held, asks } = given
  if (dialect !== 'claude' && dialect !== 'nexo') throw new FrameError('dialect must be claude or nexo')
  if (!Array.isArray(held) || held.length > MOST_HELD) throw new FrameError('held must be a short list')
  if (!Array.isArray(asks) || asks.length > MAX_ASKS) throw new FrameError('asks must be a short list')
  return {
    t: 'hello',
    v,
    agent: word(given, 'agent'),
    dialect,
    routingKey: given.routingKey === null ? null : word(given, 'routingKey'),
    ...(given.shim === undefined ? {} : { shim: word(given, 'shim') }),
    held: held.map((one) => parseHeld(record(one, 'held'))),
    asks: asks.map((one) => word({ asks: one }, 'asks')),
    proven: given.proven === true,
    ...(given.folder === undefined ? {} : { folder: word(given, 'folder', MAX_PLACE) }),
  }
}

function parseHeld(given: Fields): HeldTurn {
  return {
    turn: word(given, 'turn'),
    session: word(given, 'session'),
    chatId: word(given, 'chatId', MAX_PLACE),
    messageId: word(given, 'messageId', MAX_PLACE),
    ...(given.seen === true ? { seen: true } : {}),
  }
}

export function parseDaemonFrame(line: string): DaemonFrame {
  const given = fieldsOf(line)
  switch (given.t) {
    case 'welcome':
      return {
        t: 'welcome',
        v: number(given, 'v'),
        permission: given.permission === true,
        channels: given.channels === true,
        services: given.services === true,
        oneWay: given.oneWay === true,
        version: text(given, 'version'),
      }
    case 'refused':
    case 'bye':
      return { t: given.t, reason: text(given, 'reason') }
    case 'deliver': {
      const meta = record(given.meta, 'meta')
      return {
        t: 'deliver',
        n: number(given, 'n'),
        ...parseHeld(given),
        content: text(given, 'content'),
        meta: Object.fromEntries(Object.keys(meta).map((key) => [key, text(meta, key)])),
      }
    }
    case 'verdict': {
      const { behavior } = given
      if (behavior !== 'allow' && behavior !== 'deny') throw new FrameError('behavior must be allow or deny')
      return { t: 'verdict', n: number(given, 'n'), requestId: word(given, 'requestId'), behavior }
    }
    case 'evidence':
      return {
        t: 'evidence',
        id: number(given, 'id'),
        turn: given.turn === null ? null : word(given, 'turn'),
      }
    case 'result':
      return {
        t: 'result',
        id: number(given, 'id'),
        text: text(given, 'text'),
        isError: given.isError === true,
        structured: record(given.structured, 'structured'),
        ...(given.note === undefined ? {} : { note: text(given, 'note') }),
        proven: given.proven === true,
        done: words(given.done),
        seen: words(given.seen),
      }
    case 'asked':
      return { t: 'asked', id: number(given, 'id') }
    case 'ping':
    case 'pong':
      return { t: given.t }
    default:
      throw new FrameError(`there is no frame ${kindOf(given)}`)
  }
}

/** Converts nothing: an object may have a `toString` that throws. */
function kindOf({ t }: Fields): string {
  return typeof t === 'string' ? `"${t.slice(0, 40)}"` : `whose kind is ${t === null ? 'null' : typeof t}`
}

function fieldsOf(line: string): Fields {
  let parsed: unknown
  try {
    parsed = readMessage(line)
  } catch (thrown) {
    throw new FrameError(thrown instanceof TooComplex ? `a frame: ${thrown.message}` : 'a frame is not JSON')
  }
  return record(parsed, 'a frame')
}

function record(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FrameError(`${name} must be an object`)
  return value as Fields
}

function number(given: Fields, name: string): number {
  const value = given[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw new FrameError(`${name} must be a whole number`)
  return value
}

/** Older daemons send none. */
function words(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
}

function text(given: Fields, name: string): string {
  const value = given[name]
  if (typeof value !== 'string') throw new FrameError(`${name} must be a string`)
  return value
}

function word(given: Fields, name: string, most = MAX_ID): string {
  const value = text(given, name)
  if (value === '' || value.length > most) throw new FrameError(`${name} must be 1 to ${most} characters`)
  return value
}
