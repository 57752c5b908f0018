// ACP agents that are missing, not signed in, garbled, endless, stubborn or frozen: a person learns of each.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { scene } from './fixtures/acp-scene.ts'

describe('an agent that misbehaves', () => {
  it('[I22.missing] a program that is missing is told with what to do, and the agent is away', async () => {
    const { connector, recorded } = await scene({ options: { command: '/nonexistent/agent' } })
    await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringMatching(/cannot be started.*Install it/s),
    })
    expect(recorded.attached).toBe(false)
  })

  it('[I22.acp-auth] one that is not signed in says so with the ways; a configured one is used', async () => {
    const { connector } = await scene({ flags: ['--auth'] })
    await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('not signed in Ways to sign in: A key (key)'),
    })
    const other = await scene({ flags: ['--auth'], options: { auth: 'key' } })
    expect(await other.turn('hi')).toMatchObject({ text: 'echo: hi' })
  })

  it('[I22.wrong-protocol] one of another version, and one that never answers, is away with the reason', async () => {
    const { connector } = await scene({ flags: ['--version-9'] })
    await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({
      message: expect.stringContaining('version 9 of the protocol'),
    })
  })

  it('[I22.garbage] banners, broken lines, unknown updates and answers to nobody do no harm', async () => {
    const { turn, recorded } = await scene({ flags: ['--banner'] })
    expect(await turn('garbage')).toMatchObject({ text: 'still here' })
    expect(await turn('own')).toMatchObject({ text: 'code -32601' })
    expect(recorded.outputs.some(({ kind }) => kind === 'failed')).toBe(false)
  })

  it('[I22.huge-line] a line without end ends the process, and the turn says why', async () => {
    const { turn, connector } = await scene()
    expect(await turn('longline')).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('a line of more than'),
    })
    await until('it is gone', () => connector.processes?.().length === 0)
    expect(connector.processes?.()).toEqual([])
  })

  it('[I22.huge-answer] a huge answer is cut, and says so', async () => {
    const { turn } = await scene()
    const end = await turn('huge')
    expect(end).toMatchObject({ text: expect.stringContaining('(cut: the answer was longer') })
  })

  it('[I22.errors] what it answers with an error fails with its words, a refusal and a limit are told', async () => {
    const { turn } = await scene()
    expect(await turn('fail')).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('out of order'),
    })
    expect(await turn('refuse')).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('declined'),
    })
    expect(await turn('limit')).toMatchObject({
      kind: 'say',
      text: expect.stringContaining('limit of tokens'),
    })
  })

  it('[I22.hang] one that hangs is found by silence and a probe, one that never ends by its time', async () => {
    const hung = await scene({ options: { silence: 200, turn_timeout: 60_000 } })
    hung.recorded.hold = async () => undefined
    const end = hung.turn('freeze')
    expect(await end).toMatchObject({ kind: 'failed', reason: 'agent_silent' })
    expect(hung.connector.processes?.()).toEqual([])
    const long = await scene({ options: { turn_timeout: 1_500 } })
    expect(await long.turn('work')).toMatchObject({
      kind: 'failed',
      reason: 'agent_silent',
      detail: expect.stringContaining('turn_timeout'),
    })
  }, 120_000)

  it('[I22.stubborn] one that ignores SIGTERM, outlives its input or forks is gone with its family', async () => {
    const { turn, connector, folder } = await scene({ flags: ['--stubborn', '--lives-on'] })
    await turn('fork')
    expect(connector.processes?.()).toHaveLength(1)
    await connector.stop()
    expect(readdirSync(join(folder, 'records'))).toEqual([])
  })

  it('[I22.own-environment] it has only what is listed, and no secret of it is shown', async () => {
    const { turn, folder, log, recorded } = await scene({
      flags: ['--say-env'],
      options: { env: { API: 'env:KEY' } },
    })
    await turn('hello')
    const env = JSON.parse(readFileSync(join(folder, 'env.json'), 'utf8'))
    expect(env.API).toBe('sk-planted-secret-0123456789')
    expect(Object.keys(env).filter((name) => !/^(PATH|API|PWD|SHLVL|_|SWITCHBOARD_\w+)$/.test(name))).toEqual(
      [],
    )
    expect(JSON.stringify([log, recorded.outputs])).not.toContain('sk-planted')
  })

  it('[I22.max-processes] the longest idle process makes room; where none is idle the turn waits', async () => {
    const { turn, connector } = await scene({ options: { max_processes: 1 } })
    const other = { session: '22222222-2222-5222-8222-222222222222', chatId: 'place:other' }
    await turn('hello')
    expect(await turn('hello', other)).toMatchObject({ text: 'echo: hello' })
    expect(connector.processes?.()).toHaveLength(1)
    await connector.deliver(delivery('work', { turn: 't_busy', ...other }))
    await expect(connector.deliver(delivery('hello', { turn: 't_waits' }))).rejects.toMatchObject({
      code: 'agent_absent',
      retryAfterMs: expect.any(Number),
    })
  })

  it('[I22.idle] an idle process ends, and the next message takes its session up', async () => {
    const { turn, connector } = await scene({ options: { idle_after: 100 } })
    await turn('hello')
    await until('it happens', async () => (connector.processes?.().length === 0 ? true : null))
    expect(await turn('remember')).toMatchObject({ text: '2' })
  })
})
