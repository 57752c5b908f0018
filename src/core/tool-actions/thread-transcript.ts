// Reads the newest messages of one thread, oldest first. Other threads of the chat may have had many messages since.
import type { Address, Store, TranscriptEntry } from '../../contract/index.ts'

const PAGE = 200
/** How many messages of a chat are read in each direction. */
const MOST_LOOKED_AT = 5_000

export interface ThreadTranscript {
  readonly entries: readonly TranscriptEntry[]
  /** There are older messages that were not read. */
  readonly partly: boolean
}

export async function threadTranscript(
  store: Pick<Store, 'transcript'>,
  { integration, conversation, thread }: Address,
  limit: number,
): Promise<ThreadTranscript> {
  // Each direction has its own positions.
  const back = async (direction: 'in' | 'out'): Promise<ThreadTranscript> => {
    const found: TranscriptEntry[] = []
    let before: number | undefined
    for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
      const query = { conversation, direction, limit: PAGE }
      const page = await store.transcript(
        integration,
        before === undefined ? query : { ...query, beforeSeq: before },
      )
      found.unshift(...page.filter((entry) => entry.thread === thread && isShown(entry)))
      before = page[0]?.seq
      if (found.length >= limit || page.length < PAGE) return { entries: found, partly: false }
    }
    return { entries: found, partly: true }
  }
  const [heard, told] = [await back('in'), await back('out')]
  return {
    entries: merged(heard.entries, told.entries).slice(-limit),
    partly: heard.partly || told.partly,
  }
}

/** Ordered by time. Within one direction the position decides, and a platform's late message does not change it. */
function merged(heard: readonly TranscriptEntry[], told: readonly TranscriptEntry[]): TranscriptEntry[] {
  const all: TranscriptEntry[] = []
  const left = [...told]
  for (const one of heard) {
    while (left[0] !== undefined && left[0].at < one.at) all.push(...left.splice(0, 1))
    all.push(one)
  }
  return [...all, ...left]
}

/** What people see: no prompts, no reactions, and nothing that never arrived. */
function isShown(entry: TranscriptEntry): boolean {
  if (entry.direction === 'out') return entry.state === 'sent' && entry.op?.kind === 'text'
  return entry.state !== 'refused' && (entry.text !== '' || (entry.attachments?.length ?? 0) > 0)
}
