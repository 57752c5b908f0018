// An address: where a message came from and where one goes. It has one type and one string form. Every segment is
// percent-encoded and joined by ':', so no value can alias another.
import { SwitchboardError } from '../errors.ts'

export interface Address {
  readonly integration: string
  readonly conversation: string
  readonly thread?: string
}

/** Builds an address. Throws `input_invalid` when a segment is empty or not well-formed Unicode. */
export function address(integration: string, conversation: string, thread?: string): Address {
  segment('integration', integration)
  segment('conversation', conversation)
  if (thread === undefined) return { integration, conversation }
  segment('thread', thread)
  return { integration, conversation, thread }
}

/** Returns the string form: `integration:conversation[:thread]`, each segment percent-encoded. */
export function formatAddress(of: Address): string {
  const head = `${encode(of.integration)}:${encode(of.conversation)}`
  return of.thread === undefined ? head : `${head}:${encode(of.thread)}`
}

/** The inverse of `formatAddress`. Throws `input_invalid` on anything else. */
export function parseAddress(text: string): Address {
  const parts = text.split(':')
  if (parts.length < 2 || parts.length > 3) throw invalid(text)
  try {
    const [integration, conversation, thread] = parts.map(decodeURIComponent)
    return address(integration ?? '', conversation ?? '', thread)
  } catch {
    throw invalid(text)
  }
}

/** Returns the key of an inbox session: the agent before the address, encoded alike. */
export function sessionKey(agent: string, of: Address): string {
  return `${encode(agent)}:${formatAddress(of)}`
}

/** Returns the lane of outbound messages: one per conversation, for all threads. */
export function conversationLane(of: Address): string {
  return `${encode(of.integration)}:${encode(of.conversation)}`
}

// No encoded segment contains it.
const SIDE = '#side'

/** Returns the conversation's second lane, for low-priority acts. The conversation's own lane never waits for it. */
export function sideLane(of: Address): string {
  return conversationLane(of) + SIDE
}

const STREAM = '#stream:'

/** Returns the lane of an answer that is shown while it is written. Other lanes do not wait for its end. */
export function streamLane(of: Address, turn: string): string {
  return conversationLane(of) + STREAM + turn
}

export function isStreamLane(lane: string): boolean {
  return lane.includes(STREAM)
}

export function placeOfLane(lane: string): { readonly conversation: string; readonly side: boolean } {
  const side = lane.endsWith(SIDE)
  const [place = lane] = lane.split('#', 1)
  const { conversation } = parseAddress(place)
  return { conversation, side }
}

const PLAIN = /^[A-Za-z0-9_.~-]+$/

// encodeURIComponent does not encode !'()*. That is harmless, because none of them is a separator.
function encode(value: string): string {
  return PLAIN.test(value) ? value : encodeURIComponent(value)
}

function segment(name: string, value: string): void {
  if (value.length === 0) throw new SwitchboardError('input_invalid', `an address needs a ${name}`)
  if (!PLAIN.test(value) && LONE_SURROGATE.test(value)) {
    throw new SwitchboardError('input_invalid', `the ${name} of an address is not well-formed Unicode`)
  }
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

function invalid(text: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `"${text.slice(0, 80)}" is not an address`, {
    hint: 'write integration:conversation or integration:conversation:thread, each part percent-encoded',
  })
}
