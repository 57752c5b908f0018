// `switchboard hooks`: what to paste at a sender, a try through the real door with each step, a message once more.
import { defined, type TurnDetail } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { paintState } from '../../output/colour.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { reasonText } from '../reading/turns.ts'

export interface HookTestOptions {
  readonly recipe?: string
  readonly event?: string
}

/** States in which a turn rests. */
const SETTLED = ['answered', 'refused', 'consumed', 'failed', 'expired']
const LOOK_MS = 100
const MOST_LOOKS = 100

export const showHook: Run = async (context, [id = '']) => {
  const daemon = await context.daemon()
  const { items } = await daemon.ask('GET /api/integrations')
  const hook = items.find((one) => one.id === id)
  if (hook === undefined)
    throw usage(
      `there is no hook "${oneLine(id)}"`,
      `integrations: ${items.map((one) => one.id).join(', ') || 'none'}`,
    )
  const { paste = [] } = hook
  if (context.json) await context.printJson({ id, platform: hook.platform, link: hook.link, paste })
  else if (paste.length === 0)
    context.note(
      wordsIn().reports.hooks.nothingToPaste({ id: oneLine(id), platform: oneLine(hook.platform) }),
    )
  else await context.print(paste.map(safeLines).join('\n'))
  return 0
}

export const testHook: Run<HookTestOptions> = async (context, [id = ''], options) => {
  const daemon = await context.daemon()
  const { recipe, event } = options
  const done = await daemon.ask('POST /api/hooks/{id}/test', {
    path: { id },
    body: defined({ recipe, event }),
  })
  const say = async (line: string) => void (context.json ? null : await context.print(line))
  const { fields } = wordsIn().tables
  const sent = wordsIn().reports.hooks.sent({
    recipe: oneLine(done.recipe),
    event: oneLine(done.event),
    bytes: done.request.bytes,
  })
  await say(`${label(context, fields.sent)}${sent}`)
  await say(`         ${done.request.method} ${oneLine(done.request.url)}`)
  for (const [name, value] of Object.entries(done.request.headers))
    await say(context.paint.dim(`         ${oneLine(name)}: ${oneLine(value)}`))
  await say(`${label(context, fields.answered)}${done.status} ${oneLine(done.answer)}`)
  const turn = done.turn === null ? null : await followTurn(context, done.turn, say)
  if (context.json)
    await context.printJson({ ...done, state: turn?.state ?? null, reason: turn?.reason ?? null })
  else if (turn !== null) await context.print(`${label(context, fields.text)}${safeLines(turn.text ?? '')}`)
  const well = done.status < 300 && (turn === null || !['failed', 'expired', 'refused'].includes(turn.state))
  return well ? 0 : 1
}

/** The lines of a try begin in the same column. */
const LABEL_WIDTH = 9

function label({ paint }: Context, text: string): string {
  return paint.dim(text) + ' '.repeat(Math.max(1, LABEL_WIDTH - text.length))
}

/** Tells each state that a turn comes to, until it rests or ten seconds are over. */
async function followTurn(
  context: Context,
  id: string,
  say: (line: string) => Promise<void>,
): Promise<TurnDetail> {
  const daemon = await context.daemon()
  let before = ''
  for (let look = 0; ; look++) {
    const turn = await daemon.ask('GET /api/turns/{id}', { path: { id } })
    if (turn.state !== before) {
      const why = turn.reason === null ? '' : ` (${reasonText(turn.reason)})`
      await say(
        `${label(context, wordsIn().tables.fields.turn)}${oneLine(turn.id)} ${paintState(context.paint, turn.state)}${why}`,
      )
    }
    before = turn.state
    if (SETTLED.includes(turn.state)) return turn
    if (look >= MOST_LOOKS) {
      context.note(wordsIn().reports.hooks.stillThere({ state: turn.state, id: oneLine(id) }))
      return turn
    }
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
}

export const replayTurn: Run = async (context, [id = '']) => {
  const daemon = await context.daemon()
  const done = await daemon.ask('POST /api/hooks/turns/{id}/replay', { path: { id } })
  if (context.json) await context.printJson(done)
  else {
    const why = done.reason === null ? '' : ` (${reasonText(done.reason)})`
    const words = wordsIn().reports.hooks
    const made = done.id === null ? words.it : oneLine(done.id)
    const state = paintState(context.paint, done.state)
    await context.print(words.replayed({ id: made, state, why, of: oneLine(done.replay_of) }))
  }
  return done.state === 'refused' ? 1 : 0
}
