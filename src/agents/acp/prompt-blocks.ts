// A turn as the blocks of an ACP prompt: the message inside its channel element, then its files as far as the agent
// takes them. After an interruption the message is not sent again as if it were new.
import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk'
import type { Attachment, ConnectorDeps, Delivery } from '../../contract/index.ts'
import { maybeAgainWords, serverWords, turnText } from '../../kit/index.ts'

const MOST_FILES = 8
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

export interface LeftOver {
  /** Tools whose results the agent has. */
  readonly done: readonly string[]
  /** Tools that were begun and whose end is unknown. */
  readonly unknown: readonly string[]
}

/** The prompt contains the turn's id, so that it can be found in what the agent remembers. */
export function markOf({ turn }: Pick<Delivery, 'turn'>): string {
  return `turn="${turn}"`
}

export async function messageBlocks(
  delivery: Delivery,
  takes: PromptCapabilities,
  deps: Pick<ConnectorDeps, 'tools' | 'log'> & {
    /** The agent has read the channel server's instructions. */
    readonly hasInstructions: boolean
  },
): Promise<readonly ContentBlock[]> {
  const files: ContentBlock[] = []
  const words: string[] = []
  for (const [at, file] of delivery.attachments.entries()) {
    const block = at < MOST_FILES ? await fileBlock(file, delivery, takes, deps) : null
    if (block) files.push(block)
    words.push(`(attachment: ${nameOf(file)}${block ? '' : `, id ${file.id}: not shown here`})`)
  }
  const more = { turn: delivery.turn, ...(delivery.repeat ? { redelivery: 'true' } : {}) }
  const text = turnText(delivery, words, more)
  const theirs = deps.hasInstructions ? '' : serverWords(delivery)
  return [
    ...(theirs === '' ? [] : [{ type: 'text' as const, text: theirs }]),
    { type: 'text', text },
    ...files,
  ]
}

/** For an agent that has the message, and may have done a part of it. */
export function goOnBlocks(delivery: Delivery, left: LeftOver): readonly ContentBlock[] {
  const lines = [
    `[From Switchboard] Your work on the message with ${markOf(delivery)} was interrupted. Go on where you stopped and answer it; do not begin again.`,
    ...(left.done.length === 0 ? [] : [`Finished before it, not to be run again: ${left.done.join('; ')}.`]),
    ...(left.unknown.length === 0
      ? []
      : [
          `Begun, with an outcome that is not known: ${left.unknown.join('; ')}. It may have worked: look before you run it again, or tell the person.`,
        ]),
  ]
  return [{ type: 'text', text: lines.join('\n') }]
}

/** Stands before a message that the agent may already have. */
export function maybeAgain(left: LeftOver): ContentBlock {
  return { type: 'text', text: maybeAgainWords([...left.done, ...left.unknown]) }
}

async function fileBlock(
  file: Attachment,
  { agent, session, turn }: Delivery,
  takes: PromptCapabilities,
  { tools, log }: Pick<ConnectorDeps, 'tools' | 'log'>,
): Promise<ContentBlock | null> {
  const { mime = '' } = file
  const isImage = takes.image === true && IMAGES.includes(mime)
  const isAudio = takes.audio === true && mime.startsWith('audio/')
  const isText = takes.embeddedContext === true && (mime.startsWith('text/') || mime === 'application/json')
  if (!tools || !(isImage || isAudio || isText)) return null
  const caller = { agent, session, turn, user: null, idempotencyKey: null }
  const outcome = await tools().downloadAttachment(caller, { fileId: file.id })
  const carried = outcome.isError ? undefined : outcome.files?.[0]
  if (!carried) {
    log.warn({ turn, problem: outcome.text }, 'a file does not go to the agent')
    return null
  }
  const data = () => Buffer.from(carried.bytes).toString('base64')
  if (isImage) return { type: 'image', mimeType: carried.mime, data: data() }
  if (isAudio) return { type: 'audio', mimeType: carried.mime, data: data() }
  const uri = `attachment:///${encodeURIComponent(carried.name)}`
  const text = new TextDecoder().decode(carried.bytes)
  return { type: 'resource', resource: { uri, mimeType: carried.mime, text } }
}

function nameOf({ name, kind }: Attachment): string {
  return (name ?? kind).replace(/[\s\p{Cc}()]+/gu, ' ').slice(0, 200)
}
