// The outputs made from the events of Claude Code, in order.
import { expect, it, vi } from 'vitest'
import { type AgentOutput, MOST_ANSWER_CHARS } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createOpenTurns } from './open-turns.ts'
import { createEventTaker, type EventTakerDeps } from './take-events.ts'

it('[I35.b7] a text without end is kept up to the limit of an answer, and a piece of it costs what it is long', async () => {
  const outputs: AgentOutput[] = []
  const clock = createTestClock()
  const turns = createOpenTurns()
  turns.add(delivery('go'), 'u1')
  const outlet = {
    async accept(output: AgentOutput) {
      outputs.push(output)
      return { id: null }
    },
  }
  const taker = createEventTaker({
    ...{ agent: 'kate', session: 's', node: null, clock, turns, log: createRecordingLog() },
    outlet: () => outlet,
  } as unknown as EventTakerDeps)
  let chars = 0
  const trim = String.prototype.trim
  vi.spyOn(String.prototype, 'trim').mockImplementation(function (this: string) {
    chars += this.length
    return trim.call(this)
  })
  try {
    taker.take({ kind: 'began' })
    for (let at = 0; at < 20_000; at++) taker.take({ kind: 'delta', text: 'ten chars ' })
  } finally {
    vi.restoreAllMocks()
  }
  await clock.advance(1_000)
  const shown = outputs.flatMap((output) => (output.kind === 'partial' ? output.text.length : []))
  expect(shown.at(-1)).toBe(MOST_ANSWER_CHARS + 1)
  expect(Math.max(...shown)).toBe(MOST_ANSWER_CHARS + 1)
  expect(chars).toBeLessThan(1_000_000)
})
