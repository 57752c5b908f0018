// Fetches the first file of a message before the message is handed to a host that can read it from disk. It fetches
// pictures, as the official plugins do, and other small files. For all others the agent calls `download_attachment`.
import type { Attachment, Clock, Delivery, Logger, ToolActions } from '../../contract/index.ts'

/** The path stands in meta only. In the text a sender could forge it. */
export type FileMeta = Readonly<Partial<Record<'image_path' | 'file_path', string>>>

export interface FirstFileDeps {
  readonly agent: string
  readonly clock: Clock
  readonly log: Logger
  readonly tools: () => ToolActions
}

/** A message waits this long for its file. */
const WAIT_MS = 10_000
const SMALL_BYTES = 1_048_576

/** Never throws: a message without its file is better than no message. */
export async function fetchFirstFile(delivery: Delivery, deps: FirstFileDeps): Promise<FileMeta> {
  const first = delivery.attachments.find(isWorthIt)
  if (first === undefined) return {}
  const caller = {
    agent: deps.agent,
    session: null,
    user: null,
    turn: delivery.turn,
    idempotencyKey: null,
    local: true,
  }
  try {
    const fetched = deps.tools().downloadAttachment(caller, { fileId: first.id })
    const outcome = await within(WAIT_MS, deps.clock, fetched)
    if (outcome !== null && !outcome.isError)
      return first.kind === 'image' ? { image_path: outcome.text } : { file_path: outcome.text }
    deps.log.warn(
      { turn: delivery.turn, problem: outcome?.text ?? 'it took too long' },
      'a file was not fetched',
    )
  } catch (thrown) {
    deps.log.warn({ turn: delivery.turn, error: String(thrown) }, 'a file was not fetched')
  }
  return {}
}

export function hasFirstFile(delivery: Delivery): boolean {
  return delivery.attachments.some(isWorthIt)
}

function isWorthIt({ kind, size }: Attachment): boolean {
  return kind === 'image' || (size !== undefined && size <= SMALL_BYTES)
}

function within<T>(ms: number, clock: Clock, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(null))
    work.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (thrown) => {
        cancel()
        reject(thrown)
      },
    )
  })
}
