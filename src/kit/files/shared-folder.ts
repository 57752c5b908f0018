// The folder where an integration's files are used from, and their way to the other nodes: what is saved here goes to the
// mirror too, what another node saved is fetched when it is first asked for. Without a mirror it is just a folder.
import { access, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asSwitchboardError, type FileMirror, type Random } from '../../contract/index.ts'

export interface SharedFolder {
  /**
   * Writes them here and to the mirror, in this order: whoever finds the last one finds those before it, on every node.
   * Throws `store_unavailable` when the mirror did not take them; then none of them is here.
   */
  save(files: readonly { readonly name: string; readonly bytes: Uint8Array }[]): Promise<void>
  /** Where it lies here. Null: nobody has it, or it is no name of a file. Throws while the mirror cannot be asked. */
  find(name: string): Promise<string | null>
  /** From here and from the mirror. The copies of other nodes are theirs to remove. */
  remove(name: string): Promise<void>
}

export interface SharedFolderDeps {
  readonly dir: string
  readonly random: Pick<Random, 'bytes'>
  readonly mirror?: FileMirror | undefined
  /** Told of what was fetched, in bytes. */
  readonly onFetched?: (bytes: number) => void
}

export function createSharedFolder({ dir, random, mirror, onFetched }: SharedFolderDeps): SharedFolder {
  // Several may ask for one file at once (a page that shows a picture twice): it comes over once.
  const fetching = new Map<string, Promise<string | null>>()

  async function fetchFrom(from: FileMirror, name: string): Promise<string | null> {
    const bytes = await from.get(name)
    if (bytes === null) return null
    await mkdir(dir, { recursive: true, mode: 0o700 })
    // Nobody may find half of it; a leading dot is never the name of a file.
    const half = join(dir, `.${Buffer.from(random.bytes(8)).toString('hex')}.part`)
    try {
      await writeFile(half, bytes, { mode: 0o600, flag: 'wx' })
      // Retention goes by the time of a file: a copy must not outlive what it is a copy of.
      const since = (await from.since?.(name)) ?? null
      if (since !== null) await utimes(half, since / 1000, since / 1000)
      await rename(half, join(dir, name))
    } catch (thrown) {
      await rm(half, { force: true })
      throw thrown
    }
    onFetched?.(bytes.byteLength)
    return join(dir, name)
  }

  return {
    async save(files) {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      const written: string[] = []
      try {
        for (const { name, bytes } of files) {
          const path = join(dir, name)
          await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
          written.push(path)
        }
        for (const { name, bytes } of files) await mirror?.put(name, bytes).catch(asRefusal)
      } catch (thrown) {
        for (const path of written.reverse()) await rm(path, { force: true })
        throw thrown
      }
    },
    async remove(name) {
      if (!isPlainName(name)) return
      await mirror?.remove?.(name)
      await rm(join(dir, name), { force: true })
    },
    async find(name) {
      if (!isPlainName(name)) return null
      const path = join(dir, name)
      if (await isThere(path)) return path
      if (mirror === undefined) return null
      const known = fetching.get(name)
      if (known !== undefined) return known
      const fetched = fetchFrom(mirror, name).finally(() => fetching.delete(name))
      fetching.set(name, fetched)
      return fetched
    },
  }
}

/** One segment that can lead nowhere else: no separators, not hidden, nothing that acts, and short enough for a disk. */
export function isPlainName(name: string): boolean {
  return /^[^./\\\p{Cc}\p{Cf}][^/\\\p{Cc}\p{Cf}]*$/u.test(name) && Buffer.byteLength(name) <= 255
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Whatever went wrong there: it is not kept for the others, and may be tried again. */
function asRefusal(thrown: unknown): never {
  throw asSwitchboardError(thrown, 'store_unavailable')
}
