// Recognises our own rows: by their guid after a confirmed send, and before that by their text, as Messages changes it.
// So our own messages in a chat with oneself are never received, also not after a restart.
import { createBoundedMap, type OutboundOp, opText, type PlatformDeps } from '../../contract/index.ts'
import { wordsOf } from './render.ts'

const REMEMBERED = 5_000
const LOOKED_BACK = 200

export interface OwnSends {
  /** A text is about to be sent there; empty for a file. Call the result when the send is settled. */
  sending(conversation: string, text: string): () => void
  confirmed(guid: string): void
  isOurs(row: {
    readonly guid: string
    readonly conversation: string
    readonly text: string
  }): Promise<boolean>
  /**
   * Returns our known guids in this chat, and when the send with this key was made; null: it is not among the latest.
   */
  known(
    conversation: string,
    key: string,
  ): Promise<{ readonly guids: ReadonlySet<string>; readonly madeAt: number | null }>
}

/** Messages makes quotes curly, and adds or removes zero-width characters. */
export function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u2010-\u2015]/g, '-')
    .replaceAll(/\p{Default_Ignorable_Code_Point}|\ufffc/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function createOwnSends({ transcript }: Pick<PlatformDeps, 'transcript'>): OwnSends {
  const guids = createBoundedMap<string, true>(REMEMBERED)
  const open = new Map<string, number>()
  const keyOf = (conversation: string, text: string) => JSON.stringify([conversation, normalised(text)])
  const said = (conversation: string) => transcript({ conversation, direction: 'out', limit: LOOKED_BACK })

  return {
    sending(conversation, text) {
      const key = keyOf(conversation, text)
      open.set(key, (open.get(key) ?? 0) + 1)
      return () => {
        const left = (open.get(key) ?? 1) - 1
        if (left > 0) open.set(key, left)
        else open.delete(key)
      }
    },
    confirmed: (guid) => guids.set(guid, true),
    async isOurs({ guid, conversation, text }) {
      if (guids.has(guid) || open.has(keyOf(conversation, text))) return true
      const wanted = normalised(text)
      return (await said(conversation)).some(
        (entry) =>
          entry.platformMessageId === guid ||
          // A process that died sent it and did not record its guid.
          (entry.platformMessageId === undefined &&
            entry.state !== 'queued' &&
            entry.state !== 'failed' &&
            entry.op !== undefined &&
            normalised(wordsIn(entry.op)) === wanted),
      )
    },
    async known(conversation, key) {
      const entries = await said(conversation)
      return {
        guids: new Set(entries.flatMap(({ platformMessageId }) => platformMessageId ?? [])),
        madeAt: entries.find(({ id }) => id === key)?.at ?? null,
      }
    },
  }
}

/** The text as it was given to Messages. A file has none there. */
function wordsIn(op: OutboundOp): string {
  return op.kind === 'text' || op.kind === 'prompt' || op.kind === 'file' ? wordsOf(op) : opText(op)
}
