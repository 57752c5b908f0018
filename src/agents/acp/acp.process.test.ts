// The connector `acp` with real processes: agents on the official library's agent side, which follow the message's
// script.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { createRealClock } from '../../runtime/real-clock.ts'
import { scratchFolder } from '../../testing/scratch.ts'
import { delivery, describeConnectorSuite } from '../../testing/suites/connector-suite.ts'
import { AGENT, asked, endOf, make, SESSION, scene } from './fixtures/acp-scene.ts'
import { acpModule } from './module.ts'

describeConnectorSuite('acp', async () => {
  const { connector } = make({})
  return { connector, answerable: 'hello', asking: 'ask' }
})

describe('a turn', () => {
  it('[S6.acp-prompt] [S6.acp-evidence] [I22.acp-session] one process a session: what it says is the answer, and it is seen by its first update', async () => {
    const { turn, recorded, connector } = await scene()
    expect(await turn('hello there')).toMatchObject({
      kind: 'say',
      text: 'echo: hello there',
      final: true,
      sole: true,
    })
    expect(recorded.outputs.filter(({ kind }) => kind === 'evidence')).toHaveLength(1)
    expect(recorded.outputs.some(({ kind }) => kind === 'partial')).toBe(true)
    expect(await turn('remember')).toMatchObject({ text: '2' })
    expect(connector.processes?.()).toHaveLength(1)
    const other = '22222222-2222-5222-8222-222222222222'
    expect(await turn('remember', { session: other, chatId: 'place:other' })).toMatchObject({ text: '1' })
    expect(connector.processes?.()).toHaveLength(2)
  })

  it('[I22.acp-updates] text after the last tool is the answer; plan and tools are status and events, thoughts are hidden', async () => {
    const { turn, recorded } = await scene()
    expect(await turn('plan')).toMatchObject({ text: 'Then the answer.' })
    const told = recorded.outputs
      .filter((one) => one.kind === 'status')
      .map((one) => one.kind === 'status' && one.text)
    expect(told).toEqual(expect.arrayContaining(['Look', 'Using write the log']))
    const events = recorded.outputs.flatMap((one) => (one.kind === 'event' ? [one.event.kind] : []))
    expect(events).toEqual(['tool_call', 'tool_result'])
    expect(await turn('think')).toMatchObject({ kind: 'evidence', of: 'answered' })
    expect(JSON.stringify(recorded.outputs)).not.toContain('"hm"')
  })

  it('[I22.acp-permission] [S10.asked-by-acp] a permission shows the whole input though the request lacks it, and yes is for one call', async () => {
    const { connector, recorded, outcomes, runs } = await scene()
    await connector.deliver(delivery('ask'))
    const { toolName, input } = await asked(recorded, 'allow', connector)
    expect(toolName).toBe('write the log')
    expect(input).toContain('x'.repeat(40))
    expect(await endOf(recorded, 't_test_1')).toMatchObject({ text: 'the tool ran' })
    expect(outcomes()).toEqual(['{"outcome":"selected","optionId":"once"}'])
    expect(runs()).toHaveLength(1)
  })

  it('[I35.b16] no person is asked for our own tools, and a command that is called like one is asked about', async () => {
    const { connector, recorded } = await scene()
    await connector.deliver(delivery('ask-own'))
    const { input } = await asked(recorded, 'deny', connector)
    expect(input).toContain('"command": "mcp__switchboard__reply"')
    expect(await endOf(recorded, 't_test_1')).toMatchObject({ text: 'once no' })
    expect(recorded.outputs.filter(({ kind }) => kind === 'ask')).toHaveLength(1)
  })

  it('[I35.b3] a permission that has nothing but a long title of several lines is asked with the whole title', async () => {
    const { connector, recorded } = await scene()
    await connector.deliver(delivery('ask-title'))
    const { toolName, input } = await asked(recorded, 'deny', connector)
    expect(toolName).toMatch(/^cat notes\.txt # padding/)
    expect(input).toBe(`cat notes.txt\n${'# padding\n'.repeat(70)}rm -rf ~/work`)
    expect(await endOf(recorded, 't_test_1')).toMatchObject({ text: 'no' })
  })

  it('[I22.acp-permission] no is its once; where only "always" is offered nobody is asked unless the configuration allows it', async () => {
    const denied = await scene()
    await denied.connector.deliver(delivery('ask'))
    await asked(denied.recorded, 'deny', denied.connector)
    expect(await endOf(denied.recorded, 't_test_1')).toMatchObject({ text: 'the tool denied' })
    expect(denied.runs()).toEqual([])
    const always = await scene({ flags: ['--only-always'] })
    expect(await always.turn('ask')).toMatchObject({ text: 'the tool denied' })
    expect(always.recorded.outputs.some(({ kind }) => kind === 'ask')).toBe(false)
    const opened = await scene({ flags: ['--only-always'], options: { always: true } })
    await opened.connector.deliver(delivery('ask'))
    await asked(opened.recorded, 'allow', opened.connector)
    expect(await endOf(opened.recorded, 't_test_1')).toMatchObject({ text: 'the tool ran' })
    expect(opened.outcomes()).toEqual(['{"outcome":"selected","optionId":"always"}'])
  })

  it('[I22.acp-cancel] a stop answers what is open as cancelled, is silent, and the next message is taken', async () => {
    for (const flags of [[], ['--cancel-end-turn']]) {
      const { connector, recorded, outcomes, turn } = await scene({ flags })
      await connector.deliver(delivery('ask'))
      await until('it happens', async () => recorded.outputs.some(({ kind }) => kind === 'ask') || null)
      expect(await connector.cancel?.(SESSION, 't_test_1')).toBe(true)
      await until('it happens', async () => (outcomes().length === 1 ? true : null))
      expect(outcomes()).toEqual(['{"outcome":"cancelled"}'])
      await until('it happens', async () => ((await connector.cancel?.(SESSION, null)) ? null : true))
      expect(await turn('hello', { turn: 't_after' })).toMatchObject({ text: 'echo: hello' })
      const first = recorded.outputs.filter((one) => 'turn' in one && one.turn === 't_test_1')
      expect(first.map(({ kind }) => kind)).not.toContain('failed')
      expect(first.some((one) => one.kind === 'say')).toBe(false)
    }
  })

  it('[I22.acp-files-out] pictures and texts go along as the agent takes them', async () => {
    const bytes = new TextEncoder().encode('hi')
    const files: Record<string, { name: string; mime: string; bytes: Uint8Array }> = {
      p: { name: 'cat.png', mime: 'image/png', bytes },
      t: { name: 'a.txt', mime: 'text/plain', bytes },
    }
    const desk = {
      downloadAttachment: async (_caller: unknown, input: object) => {
        const file = files[(input as { fileId: string }).fileId]
        return { text: '', isError: false, structured: {}, ...(file ? { files: [file] } : {}) }
      },
    }
    const { turn } = await scene({ deps: { tools: () => desk as never } })
    const end = await turn('said', {
      attachments: [
        { id: 'p', kind: 'image', name: 'cat.png', mime: 'image/png', ref: 'r' },
        { id: 't', kind: 'file', name: 'a.txt', mime: 'text/plain', ref: 'r' },
        { id: 'z', kind: 'file', name: 'a.zip', mime: 'application/zip', ref: 'r' },
      ],
    })
    expect(end).toMatchObject({ text: expect.stringContaining('[image]\n[resource]') })
    expect(end).toMatchObject({ text: expect.stringContaining('(attachment: a.zip, id z: not shown here)') })
  })

  it('[I35.b21] the words of a channel server come once, before the first message, and all meta with each', async () => {
    const { turn } = await scene()
    const instructions = { server: 'pager', text: 'Answer with the runbook.' }
    const meta = { chat_id: 'place:a', severity: 'high' }
    const first = await turn('said', { instructions, meta })
    expect(first).toMatchObject({
      text: expect.stringMatching(/^\[The channel server "pager"[\s\S]*runbook[\s\S]*<channel /),
    })
    const second = await turn('said', { instructions, meta })
    expect(second).toMatchObject({ text: expect.stringMatching(/^<channel [^>]*severity="high"/) })
  })

  it('[I22.acp-mcp] the agent is given our tools for that session alone', async () => {
    const { turn, folder } = await scene()
    await turn('hello')
    const memory = JSON.parse(readFileSync(join(folder, 'memory.json'), 'utf8'))
    expect(memory.s1.mcp).toEqual([{ name: 'switchboard', url: 'http://127.0.0.1:1/mcp' }])
  })
})

describe('files and commands of the client', () => {
  it('[I22.acp-doors] are not there unless they are opened, and then only within the folder', async () => {
    const closed = await scene()
    expect(await closed.turn(`files ${closed.folder}/memory.json`)).toMatchObject({ text: 'error -32601' })
    expect(await closed.turn('terminal pwd')).toMatchObject({ text: 'error -32601' })
    const folder = scratchFolder('acp')
    writeFileSync(join(folder, 'in.txt'), 'inside')
    symlinkSync('/etc/hostname', join(folder, 'link'))
    const reading = await scene({ folder, options: { files: 'read' } })
    expect(await reading.turn(`files ${folder}/in.txt`)).toMatchObject({ text: 'inside' })
    for (const path of [
      '/etc/hostname',
      `${folder}/../x`,
      `${folder}/link`,
      'in.txt',
      `${folder}/none`,
      '/dev/zero',
    ])
      expect(await reading.turn(`files ${path}`)).toMatchObject({ text: expect.stringMatching(/^error -/) })
    expect(await reading.turn(`put ${folder}/new.txt`)).toMatchObject({ text: 'error -32601' })
    await reading.connector.stop()
    const writing = await scene({ folder, options: { files: 'write', terminal: true } })
    expect(await writing.turn(`put ${folder}/deep/new.txt`)).toMatchObject({ text: 'wrote' })
    expect(readFileSync(join(folder, 'deep/new.txt'), 'utf8')).toBe('new text')
    expect(await writing.turn('put /tmp/outside-of-it.txt')).toMatchObject({ text: 'error -32602' })
    expect(await writing.turn('terminal echo out; echo err >&2; exit 4')).toMatchObject({
      text: 'exit 4: out\nerr',
    })
  })
})

it('[I35.b46-trust] files and commands of the client are tools of ours: what trust forbids is not done', async () => {
  const folder = scratchFolder('acp')
  writeFileSync(join(folder, 'in.txt'), 'inside')
  const judged: unknown[] = []
  const desk = {
    refusalOf: async ({ session }: { session: string }, { tool, own }: { tool: string; own: boolean }) => {
      judged.push([session, tool, own])
      return tool === 'fs/read_text_file' ? null : 'Not run: trust'
    },
  }
  const { turn } = await scene({
    ...{ folder, options: { files: 'write', terminal: true } },
    deps: { tools: () => desk as never },
  })
  expect(await turn(`files ${folder}/in.txt`)).toMatchObject({ text: 'inside' })
  expect(await turn(`put ${folder}/new.txt`)).toMatchObject({ text: 'error -32602' })
  expect(await turn('terminal touch ran.txt')).toMatchObject({ text: 'error -32602' })
  expect([existsSync(join(folder, 'new.txt')), existsSync(join(folder, 'ran.txt'))]).toEqual([false, false])
  expect(judged).toEqual([
    [SESSION, 'fs/read_text_file', true],
    [SESSION, 'fs/write_text_file', true],
    [SESSION, 'terminal/create', true],
  ])
})

describe('places', () => {
  it('[I35.b27] [I35.b27-no-longer] a process that only waits for a person gives its place away, to as many more, and goes on at once', async () => {
    const { connector, recorded } = await scene({ options: { max_processes: 1 } })
    const at = (n: number) => ({
      session: `${n}1111111-1111-5111-8111-111111111111`,
      chatId: `place:${n}`,
      turn: `t_${n}`,
    })
    const asks = () => recorded.outputs.filter(({ kind }) => kind === 'ask').length
    await connector.deliver(delivery('ask', at(1)))
    await until('the first asks', async () => asks() === 1 || null)
    await connector.deliver(delivery('ask', at(2)))
    await until('the second asks', async () => asks() === 2 || null)
    expect(connector.processes?.()).toHaveLength(2)
    // At most max_processes further sessions may wait like that.
    await expect(connector.deliver(delivery('hello', at(3)))).rejects.toMatchObject({
      code: 'agent_absent',
      busy: true,
      retryAfterMs: expect.any(Number),
    })
    expect(recorded.details.at(-1)).toBe('1 processes run already (max_processes): messages wait for a place')
    await asked(recorded, 'allow', connector)
    expect(await endOf(recorded, 't_1')).toMatchObject({ text: 'the tool ran' })
    // The third was stopped, so it is not tried again.
    await until('nothing waits any more', () => recorded.details.at(-1) === undefined)
    expect(recorded.attached).toBe(true)
  })
})

describe('modes', () => {
  const modesLog = (folder: string) => readFileSync(join(folder, 'modes.log'), 'utf8').trim()

  it('[I35.b28] the configured mode is set before the first prompt, and one that the agent lacks is an error', async () => {
    const asks = await scene({ flags: ['--modes'], options: { mode: 'read-only' } })
    expect(await asks.turn('hello')).toMatchObject({ text: 'echo: hello' })
    expect(modesLog(asks.folder)).toBe('read-only')
    expect(asks.recorded.details.at(-1)).toBeUndefined()
    const wrong = await scene({ flags: ['--modes'], options: { mode: 'careful' } })
    await expect(wrong.connector.deliver(delivery('hello'))).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining(
        'has no mode "careful" connector.mode is one of: read-only, auto, full-access',
      ),
    })
    const none = await scene({ options: { mode: 'read-only' } })
    await expect(none.connector.deliver(delivery('hello'))).rejects.toMatchObject({
      message: expect.stringContaining('has no mode "read-only"'),
    })
  })

  it('[I35.b28] an agent that starts in a mode that does not ask says so, unless the configuration wants that', async () => {
    const env = { AGENT_NAME: '@zed-industries/codex-acp' }
    const own = await scene({ flags: ['--modes'], options: { env } })
    await own.turn('hello')
    expect(own.recorded.attached).toBe(true)
    expect(own.recorded.details.at(-1)).toContain(
      'it works in the mode "auto", in which tools run without being asked about: set connector.mode (read-only, auto, full-access)',
    )
    const wanted = await scene({ flags: ['--modes'], options: { mode: 'full-access', env } })
    await wanted.turn('hello')
    expect(wanted.recorded.details.at(-1)).toBeUndefined()
    const asks = await scene({ flags: ['--modes'], options: { env: { ...env, AGENT_MODE: 'read-only' } } })
    await asks.turn('hello')
    expect(asks.recorded.details.at(-1)).toBeUndefined()
  })

  it.each([
    { AGENT_MODE: 'read-only', MODE_WORDS: 'Asks a person before every tool.' },
    { AGENT_MODE: 'auto', MODE_WORDS: 'Careful.' },
  ])(
    '[I35.b28-not-known] a mode of an agent that was not looked at is named as not known to ask, whatever its words say: $AGENT_MODE',
    async (env) => {
      const own = await scene({ flags: ['--modes'], options: { env } })
      await own.turn('hello')
      expect(own.recorded.details.at(-1)).toBe(
        `it works in the mode "${env.AGENT_MODE}", which is not known to ask a person before tools run: set connector.mode (read-only, auto, full-access)`,
      )
      // The operator chose it, so only doctor --security reports it.
      const chosen = await scene({ flags: ['--modes'], options: { env, mode: env.AGENT_MODE } })
      await chosen.turn('hello')
      expect(chosen.recorded.details.at(-1)).toBeUndefined()
    },
  )

  it.each([
    ['full-access', 'high', 'tools run without being asked about'],
    ['code', 'medium', 'is not known to ask'],
    ['read-only', undefined, undefined],
  ])('[I35.b28-not-known] the configured mode %s is a door: %s', (mode, open, words) => {
    const connector = { type: 'acp', options: { command: 'x', mode } }
    const gates = acpModule.doctor?.({ origin: 'agents[0]', connector } as never, { publicUrl: null }) ?? []
    const found = gates.find(({ key }) => key === 'agents[0].connector.mode')
    expect(found?.open).toBe(open)
    if (words !== undefined) expect(found?.reason).toContain(words)
  })

  it('[I35.b28] an agent that changes its mode in a session says so as well, until it asks again', async () => {
    const { turn, recorded } = await scene({ flags: ['--modes'], options: { mode: 'read-only' } })
    await turn('mode full-access')
    expect(recorded.details.at(-1)).toContain('it works in the mode "full-access"')
    await turn('mode read-only')
    expect(recorded.details.at(-1)).toBeUndefined()
  })

  it('[I35.b28-by-session] a session that asks hides none that was changed, and the change ends with its process', async () => {
    const { turn, recorded, connector } = await scene({
      flags: ['--modes'],
      options: { mode: 'read-only', max_processes: 2 },
    })
    const at = (n: number) => ({ session: `${n}1111111-1111-5111-8111-111111111111`, chatId: `place:${n}` })
    await turn('mode full-access', at(1))
    await turn('hello', at(2))
    expect(recorded.details.at(-1)).toContain('it works in the mode "full-access"')
    // The third session needs a process, so the one that was idle longest ends.
    await turn('hello', at(3))
    await until('it is told no more', () => recorded.details.at(-1) === undefined)
    expect(connector.processes?.()).toHaveLength(2)
  })
})

describe('its module', () => {
  it('[I35.b45-cwd] a folder that is not there is an error, and is not made', async () => {
    const cwd = join(scratchFolder('acp'), 'not', 'there')
    const options = { command: process.execPath, args: [AGENT], cwd }
    const tried = acpModule.setup?.try?.(options, { clock: createRealClock() })
    await expect(tried).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`the folder it works in is not there: ${cwd}`),
    })
    const { recorded, connector } = await scene({ options: { cwd } })
    expect(recorded.attached).toBe(false)
    expect(existsSync(cwd)).toBe(false)
    await connector.stop()
    expect(existsSync(cwd)).toBe(false)
  })

  it('[I22.acp-setup] tries the program and says who it is, or what is missing', async () => {
    const folder = scratchFolder('acp')
    const options = { command: process.execPath, args: [AGENT], cwd: folder }
    const deps = { clock: createRealClock() }
    expect(await acpModule.setup?.try?.(options, deps)).toEqual({ who: 'scripted 1.2.3' })
    await expect(
      acpModule.setup?.try?.({ ...options, command: '/nonexistent/agent' }, deps),
    ).rejects.toMatchObject({
      message: expect.stringContaining('cannot be started'),
    })
    // A program that ends at once is reported with its last words, and not as a closed connection.
    const ends = ['-e', 'console.error("no such model"); process.exit(3)']
    await expect(acpModule.setup?.try?.({ ...options, args: ends }, deps)).rejects.toMatchObject({
      message: expect.stringMatching(/did not answer[\s\S]*no such model/),
    })
  })
})
