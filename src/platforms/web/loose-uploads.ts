// Uploads that no message names yet: their limits for one sender and in total, and how long they stay. Otherwise a
// session could fill the disk without a message. When the total is used up, each sender has an equal share. A sender
// below the share gets room from those above it, whose oldest uploads are removed.
import { SwitchboardError } from '../../contract/index.ts'

export interface LooseUpload {
  readonly id: string
  readonly sender: string
  readonly bytes: number
  readonly at: number
}

interface LooseUploadsDeps {
  readonly now: () => number
  /** Returns those on the disk. */
  readonly load: () => Promise<readonly LooseUpload[]>
  /** Whether a message at any node names it meanwhile. */
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

// One file may be as large as the largest configurable body (100 MiB).
const LIMITS: LooseLimits = {
  senderBytes: 128 * 1_048_576,
  senderFiles: 200,
  totalBytes: 512 * 1_048_576,
  totalFiles: 2_000,
}

interface LooseUploads {
  /** Removes old uploads, then adds this one. Throws `rate_limited` when there is no room. */
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

  /** Drops uploads that a message at another node names. */
  async function recheck(loose: Map<string, LooseUpload>): Promise<void> {
    for (const id of [...loose.keys()]) if (await deps.isTaken(id)) loose.delete(id)
  }

  const exceeds = (files: readonly LooseUpload[], bytes: number, count: number) =>
    files.length > count || bytesOf(files) > bytes

  const isFull = (files: readonly LooseUpload[]) => exceeds(files, limits.totalBytes, limits.totalFiles)

  const ofSender = (all: readonly LooseUpload[], who: string) => all.filter(({ sender }) => sender === who)

  /** Returns the uploads to remove for this one, or why it has no room. */
  function placeFor(loose: Map<string, LooseUpload>, upload: LooseUpload): readonly LooseUpload[] | string {
    let all = [...loose.values(), upload]
    const own = ofSender(all, upload.sender)
    if (exceeds(own, limits.senderBytes, limits.senderFiles))
      return 'too many of your files wait for a message'
    if (!isFull(all)) return []
    const senders = [...new Set(all.map(({ sender }) => sender))]
    const share = {
      bytes: Math.floor(limits.totalBytes / senders.length),
      files: Math.floor(limits.totalFiles / senders.length),
    }
    if (exceeds(own, share.bytes, share.files))
      return `files of ${senders.length} people wait for a message: your share is ${share.bytes} bytes and ${share.files} files`
    const going: LooseUpload[] = []
    while (isFull(all)) {
      const over = senders
        .filter((who) => who !== upload.sender)
        .map((who) => ofSender(all, who))
        .filter((files) => exceeds(files, share.bytes, share.files))
        .sort((one, other) => bytesOf(other) - bytesOf(one) || other.length - one.length)
      const oldest = over[0]?.reduce((first, file) => (file.at < first.at ? file : first))
      if (!oldest) return 'too many files wait for a message'
      going.push(oldest)
      all = all.filter((file) => file !== oldest)
    }
    return going
  }

  return {
    async add(upload) {
      const loose = await known()
      await expire(loose)
      const tried = placeFor(loose, upload)
      if (typeof tried === 'string' || tried.length > 0) await recheck(loose)
      // Nothing is awaited before the place is taken, so that two uploads cannot both take the last one.
      const going = placeFor(loose, upload)
      if (typeof going === 'string')
        throw new SwitchboardError('rate_limited', going, {
          hint: 'send the message that they belong to; what no message takes goes after an hour',
          retryAfterMs: Math.max(1_000, oldestOf(loose) + LOOSE_MS - deps.now()),
        })
      for (const { id } of going) loose.delete(id)
      loose.set(upload.id, upload)
      for (const { id } of going) if (!(await deps.isTaken(id))) await deps.remove(id)
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
