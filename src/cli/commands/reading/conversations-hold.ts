// `switchboard conversations take|say|give`: a person answers in the agent's place, from a terminal.
import { defined } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { oneLine } from '../../output/text.ts'
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
  const words = wordsIn().commandLine.conversations
  const { queued, running } = taken.ended
  const from = taken.previous === null ? null : oneLine(taken.previous.holder_name ?? '')
  await context.print(
    words.taken({ address: oneLine(taken.takeover.address), from, ended: queued + running }),
  )
  context.note(words.sayHint({ address: oneLine(address) }))
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
  else {
    const agent = given.takeover.agent === null ? null : oneLine(given.takeover.agent)
    const shown = { address: oneLine(given.takeover.address), agent }
    await context.print(wordsIn().commandLine.conversations.given(shown))
  }
  return 0
}
