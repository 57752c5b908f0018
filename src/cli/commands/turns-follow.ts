// `switchboard turns --follow`: a line for every turn that comes and for every move it makes, until interrupted.
import type { TurnState, TurnView } from '../../contract/index.ts'
import type { Context } from '../context.ts'
import { paintState } from '../output/colour.ts'
import { cutToWidth, oneLine } from '../output/text.ts'
import type { ListFilter, Reader } from '../reader.ts'

const EVERY_MS = 700
/** Turns whose moves are watched; a burst beyond it is paged through, so no new one is missed. */
const WATCHED = 200

/** `rounds` ends it after that many looks (tests); people end it with Ctrl-C. */
export async function followTurns(
  context: Context,
  reader: Reader,
  filter: ListFilter<TurnState>,
  options: { readonly rounds?: number; readonly pause?: () => Promise<void> } = {},
): Promise<number> {
  const known = new Map<string, string>()
  const pause = options.pause ?? (() => new Promise<void>((resolve) => setTimeout(resolve, EVERY_MS)))
  let first = true
  for (let round = 0; round < (options.rounds ?? Number.POSITIVE_INFINITY); round++) {
    if (!first) await pause()
    const news = await look(reader, filter, known, first)
    first = false
    for (const turn of news) await tell(context, turn)
  }
  return 0
}

/** What changed since the last look, oldest first. The first look is cut to the asked-for number. */
async function look(
  reader: Reader,
  filter: ListFilter<TurnState>,
  known: Map<string, string>,
  first: boolean,
): Promise<readonly TurnView[]> {
  const news: TurnView[] = []
  let seen = 0
  for await (const turn of reader.turns({ ...filter, limit: first ? (filter.limit ?? WATCHED) : null })) {
    seen++
    const mark = `${turn.state} ${turn.updated_at}`
    const before = known.get(turn.id)
    if (before !== mark) news.push(turn)
    known.set(turn.id, mark)
    if (!first && seen >= WATCHED && before !== undefined) break
  }
  for (const id of known.keys()) {
    if (known.size <= WATCHED * 50) break
    known.delete(id)
  }
  return news.reverse()
}

async function tell(context: Context, turn: TurnView): Promise<void> {
  if (context.json) return void (await context.printJson(turn))
  const { paint } = context
  const reason = turn.reason === null ? '' : ` (${turn.reason})`
  const head = `${turn.updated_at.slice(11, 19)} ${turn.state}${reason} ${turn.id} `
  const rest = oneLine(`${turn.source} ${turn.sender}: ${turn.text ?? ''}`)
  const width = context.terminal.columns
  const tail = width === null ? rest : cutToWidth(rest, Math.max(10, width - head.length))
  await context.print(
    `${paint.dim(turn.updated_at.slice(11, 19))} ${paintState(paint, turn.state)}${reason} ${paint.dim(oneLine(turn.id))} ${tail}`,
  )
}
