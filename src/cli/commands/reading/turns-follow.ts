// `switchboard turns --follow`: a line for every turn that comes and for every move it makes, until interrupted.
import type { TurnView } from '../../../contract/index.ts'
import type { Api } from '../../api.ts'
import type { Context } from '../../context.ts'
import type { ListQuery } from '../../list.ts'
import { paintState } from '../../output/colour.ts'
import { cutToWidth, oneLine } from '../../output/text.ts'

const EVERY_MS = 700
/** So many of the newest have their moves watched. What comes in between two looks is all told, however much it is. */
const WATCHED = 200

/** `rounds` ends it after that many looks (tests); people end it with Ctrl-C. */
export async function followTurns(
  context: Context,
  api: Api,
  list: ListQuery,
  options: { readonly rounds?: number; readonly pause?: () => Promise<void> } = {},
): Promise<number> {
  const pause = options.pause ?? (() => new Promise<void>((resolve) => setTimeout(resolve, EVERY_MS)))
  const { opening, watch } = await startWatching(api, list)
  for (const turn of opening) await tell(context, turn)
  for (let round = 1; round < (options.rounds ?? Number.POSITIVE_INFINITY); round++) {
    await pause()
    for (const turn of await news(api, list.query, watch)) await tell(context, turn)
  }
  return 0
}

/** Every turn of the list received at `floor` or later is known by its last mark; older ones are history. */
interface Watch {
  floor: string
  known: Map<string, string>
}

/** The newest ones as they are, oldest first, as many as were asked for; and what is watched from here on. */
async function startWatching(
  api: Api,
  list: ListQuery,
): Promise<{ readonly opening: readonly TurnView[]; readonly watch: Watch }> {
  const shown = list.limit ?? WATCHED
  const found: TurnView[] = []
  for await (const turn of api.list('GET /api/turns', list.query, null)) {
    const enough = found[Math.max(shown, WATCHED) - 1]
    // Those of the same moment still belong to it: the floor is a time.
    if (enough !== undefined && turn.received_at < enough.received_at) break
    found.push(turn)
  }
  const watch: Watch = { floor: '', known: new Map() }
  remember(watch, found)
  return { opening: found.slice(0, shown).reverse(), watch }
}

/** What came or moved since the last look, oldest first. */
async function news(api: Api, query: ListQuery['query'], watch: Watch): Promise<readonly TurnView[]> {
  const found: TurnView[] = []
  for await (const turn of api.list('GET /api/turns', query, null)) {
    if (turn.received_at < watch.floor) break
    found.push(turn)
  }
  const changed = found.filter((turn) => watch.known.get(turn.id) !== markOf(turn))
  remember(watch, found)
  return changed.reverse()
}

/** The floor only rises: what was once too old to watch is not told as new when the list gets shorter. */
function remember(watch: Watch, found: readonly TurnView[]): void {
  const last = found[WATCHED - 1]
  if (last !== undefined && last.received_at > watch.floor) watch.floor = last.received_at
  const watched = found.filter((turn) => turn.received_at >= watch.floor)
  watch.known = new Map(watched.map((turn) => [turn.id, markOf(turn)]))
}

function markOf(turn: TurnView): string {
  return `${turn.state} ${turn.updated_at}`
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
