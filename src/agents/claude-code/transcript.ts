// Reads Claude Code's own transcript of a conversation. After an interruption only the transcript says whether a
// message was begun, and whether its answer was finished meanwhile.
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fields, isFields, textIn, textOf } from './wire.ts'

export type Standing =
  /** There is no readable transcript, or too little of it. */
  | { readonly kind: 'unknown' }
  /** The transcript does not contain the message, so no work was done for it. */
  | { readonly kind: 'absent' }
  /** It was begun and not finished. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'answered'; readonly text: string }

const TAIL_BYTES = 8 * 1_048_576
const MOST_FOLDERS = 5_000

/** `uuids`: those under which the message or its continuation was written. Never throws. */
export async function standingOf(
  uuids: readonly string[],
  where: { readonly id: string; readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<Standing> {
  const tail = await tailOf(where)
  if (tail === null) return { kind: 'unknown' }
  const entries = tail.lines.map(parsed).filter((one) => one !== null)
  const at = entries.findLastIndex(({ type, uuid }) => type === 'user' && uuids.includes(textOf(uuid) ?? ''))
  // It may be in the part that was not read.
  if (at === -1) return { kind: tail.isWhole ? 'absent' : 'unknown' }
  const after = entries
    .slice(at + 1)
    .filter(({ type, isSidechain }) => (type === 'assistant' || type === 'user') && isSidechain !== true)
  const last = after.at(-1)
  if (last?.type !== 'assistant' || !isFields(last.message)) return { kind: 'begun' }
  const { stop_reason: stop, model, content } = last.message
  // The program writes such an entry itself when it is resumed. It is no answer.
  const ended = (stop === 'end_turn' || stop === 'stop_sequence') && model !== '<synthetic>'
  const text = Array.isArray(content) ? textIn(content.filter(isFields)).trim() : ''
  return ended && text !== '' ? { kind: 'answered', text } : { kind: 'begun' }
}

interface Tail {
  readonly lines: readonly string[]
  readonly isWhole: boolean
}

async function tailOf({ id, env, cwd }: Parameters<typeof standingOf>[1]): Promise<Tail | null> {
  const home = env.CLAUDE_CONFIG_DIR ?? (env.HOME === undefined ? null : join(env.HOME, '.claude'))
  if (home === null) return null
  const projects = join(home, 'projects')
  const usual = join(projects, cwd.replace(/[^A-Za-z0-9]/g, '-'), `${id}.jsonl`)
  const first = await readTail(usual)
  if (first !== null) return first
  // Another version may name the folder differently.
  const folders = await readdir(projects).catch(() => [])
  for (const folder of folders.slice(0, MOST_FOLDERS)) {
    const found = await readTail(join(projects, folder, `${id}.jsonl`))
    if (found !== null) return found
  }
  return null
}

async function readTail(path: string): Promise<Tail | null> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const from = Math.max(0, size - TAIL_BYTES)
      const bytes = Buffer.alloc(size - from)
      await file.read(bytes, 0, bytes.length, from)
      return { lines: bytes.toString('utf8').split('\n'), isWhole: from === 0 }
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}

function parsed(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}
