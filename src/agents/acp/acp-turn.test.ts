// The outputs of an ACP agent's turn, made from its updates in order.
import { expect, it, vi } from 'vitest'
import { type AgentOutput, MOST_ANSWER_CHARS } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createTurn, type TurnDeps } from './acp-turn.ts'

it('[I35.b7] a text without end is kept up to the limit of an answer, and a piece of it costs what it is long', async () => {
  const outputs: AgentOutput[] = []
  const clock = createTestClock()
  const outlet = {
    async accept(output: AgentOutput) {
      outputs.push(output)
      return { id: null }
    },
  }
  const turn = createTurn(delivery('go'), {
    ...{ outlet, clock, log: createRecordingLog(), secrets: [], onSign: () => undefined },
  } as unknown as TurnDeps)
  let chars = 0
  const trim = String.prototype.trim
  vi.spyOn(String.prototype, 'trim').mockImplementation(function (this: string) {
    chars += this.length
    return trim.call(this)
  })
  const content = { type: 'text', text: 'ten chars ' } as const
  try {
    for (let at = 0; at < 20_000; at++) turn.onUpdate({ sessionUpdate: 'agent_message_chunk', content })
  } finally {
    vi.restoreAllMocks()
  }
  await clock.advance(1_000)
  await turn.stopped('end_turn')
  const shown = outputs.flatMap((output) => (output.kind === 'partial' ? output.text.length : []))
  expect(Math.max(...shown)).toBe(MOST_ANSWER_CHARS + 1)
  expect(outputs.at(-1)).toMatchObject({ kind: 'say', text: expect.stringContaining('was longer than') })
  expect(chars).toBeLessThan(1_000_000)
})

it('[I35.b3] a yes is for the call that was shown: one that changed meanwhile is asked about again, thrice at most', async () => {
  const asked: string[] = []
  const allowed: unknown[] = []
  const outlet = {
    async accept(output: AgentOutput) {
      if (output.kind === 'ask') asked.push(output.ask.input)
      return { id: 'a' }
    },
  }
  const change = (command: string) =>
    turn.onUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c', rawInput: { command } })
  let meanwhile: (() => void) | null = null
  const turn = createTurn(delivery('go'), {
    ...{ outlet, clock: createTestClock(), log: createRecordingLog(), secrets: [], onSign: () => undefined },
    allowAlways: false,
    steps: {
      ...{ begun: async () => undefined, done: async () => undefined, asked: async () => undefined },
      allowed: async (call: { readonly rawInput: unknown }) => void allowed.push(call.rawInput),
    },
    verdictOn: async (ask: () => Promise<string | null>) => {
      await ask()
      meanwhile?.()
      return { behavior: 'allow' }
    },
  } as unknown as TurnDeps)
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ] as const
  const permission = (toolCallId: string) =>
    turn.onPermission({
      toolCall: { toolCallId, title: 'Bash', rawInput: { command: 'ls' } },
      options: [...options],
    } as unknown as Parameters<typeof turn.onPermission>[0])

  meanwhile = () => {
    meanwhile = null
    change('rm -rf .')
  }
  expect(await permission('c')).toMatchObject({ outcome: 'selected', optionId: 'yes' })
  expect(asked).toEqual([expect.stringContaining('ls'), expect.stringContaining('rm -rf .')])
  expect(allowed).toEqual([{ command: 'rm -rf .' }])

  let nth = 0
  meanwhile = () => change(`rm ${nth++}`)
  expect(await permission('c')).toMatchObject({ outcome: 'selected', optionId: 'no' })
  expect(asked).toHaveLength(5)
  expect(allowed).toHaveLength(1)
})
