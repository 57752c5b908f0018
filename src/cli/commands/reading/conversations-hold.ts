// `switchboard conversations take|say|give`: a person answers in the agent's place, from a terminal.
import { defined } from '../../../contract/index.ts'
import type { Run } from '../../context.ts'
import { counted, oneLine } from '../../output/text.ts'
import { parseDuration } from '../../output/time.ts'
import { tellResult, textOf } from '../sending/send.ts'

interface ForceOptions {
  readonly force?: boolean
}

export const takeConversation: Run<ForceOptions> = async (context, [address = ''], { force = false }) => {
  const daemon = await context.daemon()
  const taken = await daemon.ask('POST /api/conversations/{address}/take', {
    path: { address },
    body: { force },
  })
  if (context.json) {
    await context.printJson(taken)
    return 0
  }
  const { queued, running } = taken.ended
  const from = taken.previous === null ? '' : `, from ${oneLine(taken.previous.holder_name ?? '')}`
  const ended = queued + running === 0 ? '' : `; ${counted(queued + running, 'message')} ended by it`
  await context.print(`You hold ${oneLine(taken.takeover.address)}${from}${ended}.`)
  context.note(`write there with: switchboard conversations say ${oneLine(address)} TEXT`)
  return 0
}

export interface SayOptions {
  readonly key?: string
  readonly wait?: string
}

export const sayHeld: Run<SayOptions> = async (context, [address = '', ...words], options) => {
  const waitMs = options.wait === undefined ? undefined : parseDuration(options.wait, '--wait')
  const daemon = await context.daemon()
  const text = await textOf(context, words)
  const result = await daemon.askSlowly(
    (waitMs ?? 10_000) + 30_000,
    'POST /api/conversations/{address}/say',
    { path: { address }, body: { text, ...defined({ idempotency_key: options.key, wait_ms: waitMs }) } },
  )
  if (context.json) await context.printJson(result)
  else await tellResult(context, result)
  return result.ok ? 0 : 1
}

export const giveConversation: Run<ForceOptions> = async (context, [address = ''], { force = false }) => {
  const daemon = await context.daemon()
  const given = await daemon.ask('POST /api/conversations/{address}/give', {
    path: { address },
    body: { force },
  })
  if (context.json) await context.printJson(given)
  else
    await context.print(
      `${oneLine(given.takeover.address)} is ${oneLine(given.takeover.agent ?? 'free')}’s again.`,
    )
  return 0
}
