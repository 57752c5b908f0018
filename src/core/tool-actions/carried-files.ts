// Attachments for an agent that does not share our disk: the result contains their bytes.
import {
  type DownloadedFile,
  type NewFile,
  SwitchboardError,
  type ToolOutcome,
} from '../../contract/index.ts'
import type { SendableFiles } from './kept-files.ts'
import { oneLine } from './one-line.ts'

/** The limit for one result. It fits a picture and stays below the limits of clients. */
const CARRIED_BYTES = 4 * 1_048_576

/** Returns the files as a tool result. Throws `too_large` when none of them fits. */
export async function carried(
  files: readonly DownloadedFile[],
  disk: SendableFiles | undefined,
): Promise<ToolOutcome> {
  if (!disk) throw new SwitchboardError('execution_failed', 'this gateway passes no files on')
  const along: NewFile[] = []
  const left: string[] = []
  let room = CARRIED_BYTES
  for (const { path, name, mime, size } of files) {
    const bytes = size <= room ? (await disk.read(path)).bytes : null
    if (bytes === null || bytes.byteLength > room) left.push(oneLine(`${name}, ${kilobytes(size)}KB`))
    else {
      along.push({ name, mime, bytes })
      room -= bytes.byteLength
    }
  }
  const limit = `at most ${kilobytes(CARRIED_BYTES)}KB go along with one result`
  if (along.length === 0) throw new SwitchboardError('too_large', `${left.join('; ')}: ${limit}`)
  const lines = along.map(({ name, mime, bytes }) =>
    oneLine(`  ${name}  (${mime}, ${kilobytes(bytes.byteLength)}KB)`),
  )
  const rest = left.length === 0 ? '' : `\nleft out (${limit}; ask by file_id): ${left.join('; ')}`
  return {
    text: `${along.length} attachment(s) go along, in this order:\n${lines.join('\n')}${rest}`,
    isError: false,
    structured: {
      ok: true,
      files: along.map(({ name, mime, bytes }) => ({ name, mime, size: bytes.byteLength })),
    },
    files: along,
  }
}

function kilobytes(bytes: number): string {
  return (bytes / 1_024).toFixed(0)
}
