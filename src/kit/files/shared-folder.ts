// The folder of an integration's files, shared with other nodes. A saved file also goes to the mirror, and a file of
// another node is fetched when it is first requested. Without a mirror it is a plain folder.
import { access, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asSwitchboardError, type FileMirror, type Random } from '../../contract/index.ts'

export interface SharedFolder {
  /**
   * Writes them here and to the mirror, in this order, so that on every node the last one implies those before it.
   * Throws `store_unavailable` if the mirror did not accept them; then none of them is here.
   */
  save(files: readonly { readonly name: string; readonly bytes: Uint8Array }[]): Promise<void>
  /** Returns the path here. Null: no node has it, or it is not a file name. Throws while the mirror is unavailable. */
  find(name: string): Promise<string | null>
  /** Removes it here and from the mirror. Other nodes remove their own copies. */
  remove(name: string): Promise<void>
}

export interface SharedFolderDeps {
  readonly dir: string
  readonly random: Pick<Random, 'bytes'>
  readonly mirror?: FileMirror | undefined
  /** Receives the size of each fetched file, in bytes. */
  readonly onFetched?: (bytes: number) => void
}

export function createSharedFolder({ dir, random, mirror, onFetched }: SharedFolderDeps): SharedFolder {
  // Several callers may want one file at once (a page that shows a picture twice). It is fetched once.
  const fetching = new Map<string, Promise<string | null>>()

  async function fetchFrom(from: FileMirror, name: string): Promise<string | null> {
    const bytes = await from.get(name)
    if (bytes === null) return null
    await mkdir(dir, { recursive: true, mode: 0o700 })
    // A half-written file must not be found. File names never have a leading dot.
    const half = join(dir, `.${Buffer.from(random.bytes(8)).toString('hex')}.part`)
    try {
      await writeFile(half, bytes, { mode: 0o600, flag: 'wx' })
      // Retention uses the time of a file, and a copy must not outlive its original.
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

/** Whether it is one safe path segment: no separators, not hidden, no active characters, short enough for a disk. */
export function isPlainName(name: string): boolean {
  return /^[^./\\\p{Cc}\p{Cf}][^/\\\p{Cc}\p{Cf}]*$/u.test(name) && Buffer.byteLength(name) <= 255
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Turns any failure there into `store_unavailable`: the mirror does not have the file, and a retry may help. */
function asRefusal(thrown: unknown): never {
  throw asSwitchboardError(thrown, 'store_unavailable')
}
