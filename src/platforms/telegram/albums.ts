// Albums. Telegram sends each picture as a message of its own. Parts that arrive together become one event. The first
// part gives the id, and the part with a caption gives the text.
import type { InboundMessage } from '../../contract/index.ts'
import type { Parsed } from './parse.ts'

/** Telegram's own limit. */
export const MAX_ALBUM = 10

/** Puts the parts of each album where its first part is. Everything else keeps its place. */
export function gatherAlbums(parsed: readonly Parsed[]): readonly Parsed[] {
  const out: Parsed[] = []
  const places = new Map<string, number>()
  for (const one of parsed) {
    const at = one.album === undefined ? undefined : places.get(one.album)
    const before = at === undefined ? undefined : out[at]
    if (at !== undefined && before !== undefined) out[at] = addPart(before, one)
    else {
      if (one.album !== undefined) places.set(one.album, out.length)
      out.push(one)
    }
  }
  return out
}

function addPart(first: Parsed, next: Parsed): Parsed {
  const a = first.event as InboundMessage
  const b = next.event as InboundMessage
  // A part that was delivered twice is added once.
  const known = new Set((a.attachments ?? []).map(({ id }) => id))
  const added = (b.attachments ?? []).filter(({ id }) => !known.has(id))
  const spoken = [a, b].find(
    ({ text }) => text !== '' && !/^\((photo|video|document: .*|audio: .*)\)$/.test(text),
  )
  const event: InboundMessage = {
    ...a,
    text: spoken?.text ?? a.text,
    ...(a.mentioned || b.mentioned ? { mentioned: true } : {}),
    attachments: [...(a.attachments ?? []), ...added],
  }
  return { ...first, event }
}

export interface TrailingAlbum {
  readonly key: string
  /** Index of its first part. */
  readonly from: number
  readonly parts: number
}

/** Returns the album at the end of a batch, which may continue in the next one. */
export function trailingAlbum(parsed: readonly (Parsed | null)[]): TrailingAlbum | null {
  const key = parsed.at(-1)?.album
  if (key === undefined) return null
  const parts = parsed.filter((one) => one?.album === key).length
  return { key, from: parsed.findIndex((one) => one?.album === key), parts }
}
