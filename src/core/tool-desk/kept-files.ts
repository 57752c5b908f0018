// Files that go along with a reply: read where the host and this daemon share a machine, kept by the platform before
// anything is said, and sent after the text, each as a part of its own.
import { type NewFile, SwitchboardError, type ToolCaller } from '../../contract/index.ts'
import type { FileOp } from '../outbound/compose.ts'
import type { Link } from '../outbound/links.ts'
import { noFilesRefusal } from '../outbound/send-result.ts'

export interface SendableFiles {
  /**
   * Throws `input_invalid` for what is no file, or is one that must not leave; `too_large` above the cap. `folder` is where
   * the caller works: its files may leave where the configuration says nothing else.
   */
  read(path: string, folder?: string): Promise<NewFile>
}

/** All are read before the first is kept: a path that is wrong sends nothing at all. */
export function createKeptFiles(files: SendableFiles | undefined) {
  return async (caller: ToolCaller, link: Link, paths: readonly string[]): Promise<readonly FileOp[]> => {
    if (paths.length === 0) return []
    if (caller.local !== true || files === undefined)
      throw new SwitchboardError(
        'input_invalid',
        'files: only a host attached with `switchboard channel` on this machine can attach files',
      )
    const { adapter, integration } = link
    if (!adapter.abilities.files || !adapter.keep) throw noFilesRefusal(integration)
    const read: NewFile[] = []
    for (const path of paths) read.push(await files.read(path, caller.folder))
    const ops: FileOp[] = []
    for (const file of read)
      ops.push({ kind: 'file', name: file.name, mime: file.mime, ref: await adapter.keep(file) })
    return ops
  }
}
