// Uploads that no message names yet: what one sender and all together may leave lying, and how long. Without it whoever holds
// a session could fill the disk and never say a word.
import { SwitchboardError } from '../../contract/index.ts'

export interface LooseUpload {
  readonly id: string
  readonly sender: string
  readonly bytes: number
  readonly at: number
}

interface LooseUploadsDeps {
  readonly now: () => number
  /** Those that lie on the disk from before. */
  readonly load: () => Promise<readonly LooseUpload[]>
  /** Whether a message took it meanwhile, at whichever node. */
  readonly isTaken: (id: string) => Promise<boolean>
  readonly remove: (id: string) => Promise<void>
  readonly limits?: LooseLimits | undefined
}

export interface LooseLimits {
  readonly senderBytes: number
  readonly senderFiles: number
  readonly totalBytes: number
  readonly totalFiles: number
}

export const LOOSE_MS = 3_600_000

// One file may be as large as a body can be configured to be (100 MiB).
const LIMITS: LooseLimits = {
  senderBytes: 128 * 1_048_576,
  senderFiles: 200,
  totalBytes: 512 * 1_048_576,
  totalFiles: 2_000,
}

interface LooseUploads {
  /** Removes what is too old, then takes the place. Throws `rate_limited` where there is none. */
  add(upload: LooseUpload): Promise<void>
  drop(id: string): Promise<void>
}

export function createLooseUploads(deps: LooseUploadsDeps): LooseUploads {
  const limits = deps.limits ?? LIMITS
  let loading: Promise<Map<string, LooseUpload>> | null = null
  const known = () => {
    loading ??= deps.load().then(
      (found) => new Map(found.map((one) => [one.id, one])),
      (thrown) => {
        loading = null
        throw thrown
      },
    )
    return loading
  }

  async function expire(loose: Map<string, LooseUpload>): Promise<void> {
    const before = deps.now() - LOOSE_MS
    for (const { id, at } of [...loose.values()]) {
      if (at > before) continue
      if (!(await deps.isTaken(id))) await deps.remove(id)
      loose.delete(id)
    }
  }

  /** What was said at another node is not loose any more. */
  async function recheck(loose: Map<string, LooseUpload>): Promise<void> {
    for (const id of [...loose.keys()]) if (await deps.isTaken(id)) loose.delete(id)
  }

  function full(loose: Map<string, LooseUpload>, upload: LooseUpload): string | null {
    const all = [...loose.values(), upload]
    const own = all.filter(({ sender }) => sender === upload.sender)
    if (own.length > limits.senderFiles || bytesOf(own) > limits.senderBytes)
      return 'too many of your files wait for a message'
    return all.length > limits.totalFiles || bytesOf(all) > limits.totalBytes
      ? 'too many files wait for a message'
      : null
  }

  return {
    async add(upload) {
      const loose = await known()
      await expire(loose)
      if (full(loose, upload) !== null) await recheck(loose)
      // From here to the end nothing waits: two uploads cannot both take the last place.
      const problem = full(loose, upload)
      if (problem !== null)
        throw new SwitchboardError('rate_limited', problem, {
          hint: 'send the message that they belong to; what no message takes goes after an hour',
          retryAfterMs: Math.max(1_000, oldestOf(loose) + LOOSE_MS - deps.now()),
        })
      loose.set(upload.id, upload)
    },
    async drop(id) {
      ;(await known()).delete(id)
    },
  }
}

function oldestOf(loose: ReadonlyMap<string, LooseUpload>): number {
  return [...loose.values()].reduce((oldest, { at }) => Math.min(oldest, at), Number.MAX_SAFE_INTEGER)
}

function bytesOf(uploads: readonly LooseUpload[]): number {
  return uploads.reduce((total, { bytes }) => total + bytes, 0)
}
