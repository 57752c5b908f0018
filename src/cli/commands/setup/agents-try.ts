// `switchboard agents try`: says something to an agent as the operator, and prints what it answers.
import type { TurnDetail } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { safeLines } from '../../output/text.ts'
import { reasonText } from '../reading/turns.ts'

const LOOK_EVERY_MS = 500
const OVER = ['answered', 'failed', 'expired', 'refused', 'consumed']

export const tryAgent: Run<{ readonly wait?: string }> = async (
  context,
  [agent = '', ...words],
  { wait },
) => {
  const text = words.join(' ')
  if (text.trim() === '') throw usage('say what to say to it', 'switchboard agents try ID "hello"')
  const waitS = Number(wait ?? '60')
  if (!Number.isFinite(waitS) || waitS < 0) throw usage('--wait takes seconds', 'for example: --wait 120')
  const daemon = await context.daemon()
  const tried = await daemon.ask('POST /api/agents/{id}/try', { path: { id: agent }, body: { text } })
  let turn: TurnDetail | null = null
  const until = context.terminal.now() + waitS * 1_000
  while (tried.turn !== null) {
    turn = await daemon.ask('GET /api/turns/{id}', { path: { id: tried.turn } })
    if (OVER.includes(turn.state) || context.terminal.now() >= until) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  const answers = (turn?.sends ?? []).filter((one) => one.text !== null)
  if (context.json) await context.printJson({ ...tried, state: turn?.state ?? tried.state, sends: answers })
  else {
    for (const one of answers) await context.print(safeLines(one.text ?? ''))
    const state = turn?.state ?? tried.state
    const reason = turn?.reason ?? tried.reason
    const words = wordsIn().setupCommands.agents
    const why = reason === null ? null : reasonText(reason)
    if (state !== 'answered') context.note(words.state({ turn: tried.turn ?? words.it, state, reason: why }))
  }
  return turn?.state === 'answered' ? 0 : 1
}
