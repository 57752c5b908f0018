// Files that go with a reply. They are read if host and daemon share a machine. The platform stores them before any
// message is sent. Each is sent after the text as its own part.
import { type NewFile, SwitchboardError, type ToolCaller } from '../../contract/index.ts'
import type { Link } from '../links.ts'
import type { FileOp } from '../outbound/compose.ts'
import { noFilesRefusal } from '../outbound/send-result.ts'

export interface SendableFiles {
  /**
   * Reads a file. Throws `input_invalid` for a path that is no file or must not leave, and `too_large` above the
   * limit. `folder` is the caller's working folder; its files may leave unless the configuration says otherwise.
   */
  read(path: string, folder?: string): Promise<NewFile>
}

/** All files are read before the first is stored, so a wrong path sends nothing. */
export function createKeptFiles(files: SendableFiles | undefined) {
  return async (caller: ToolCaller, link: Link, paths: readonly string[]): Promise<readonly FileOp[]> => {
    if (paths.length === 0) return []
    if (caller.local !== true || files === undefined)
      throw new SwitchboardError(
        'input_invalid',
        'files: only a host attached with `switchboard channel` on this machine can attach files',
      )
    const { adapter, integration } = link
    if (!adapter.abilities.files || !adapter.files?.keep) throw noFilesRefusal(integration)
    const read: NewFile[] = []
    for (const path of paths) read.push(await files.read(path, caller.folder))
    const ops: FileOp[] = []
    for (const file of read)
      ops.push({ kind: 'file', name: file.name, mime: file.mime, ref: await adapter.files.keep(file) })
    return ops
  }
}
