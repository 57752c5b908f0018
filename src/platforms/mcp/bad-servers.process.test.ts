// Channel servers that misbehave: none of them stops the pool, and each is reported with its fault.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { createTestClock } from '../../testing/index.ts'
import { badServer, fixture, openPool, QUICK, sdkServer } from './fixtures/pool-scene.ts'
import { parseMessage } from './parse.ts'

const CALL = { timeoutMs: 20_000 }

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'swb-mcp-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    // A zombie is dead but not reaped. In a container that may stay so for ever.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a server that hangs in initialize', () => {
  it('is given up after its time and tried again', async () => {
    const startFile = join(folder(), 'starts')
    const scene = await openPool([badServer('slow', { startFile, initialize: ['hang', 'ok'] })], {
      timings: { ...QUICK, initializeMs: 1_500 },
    })
    const down = await scene.reached('slow', 'down')
    expect(down.facts().detail).toMatch(/no answer to initialize within 1500 ms; the next try is in 1 s/)
    await scene.reached('slow', 'up')
    // On a busy machine it may have missed its deadline once more.
    expect(down.facts().restarts).toBeGreaterThanOrEqual(1)
    expect(down.facts().program?.name).toBe('bad')
  })

  it('and ones that answer nonsense, an error or end, do not keep the others from coming up', async () => {
    const scene = await openPool([
      badServer('hangs', { initialize: 'hang' }),
      badServer('ends', { initialize: 'exit', stderr: 'no token given' }),
      badServer('errs', { initialize: 'error' }),
      badServer('babbles', { initialize: 'garbage' }),
      { name: 'absent', options: { command: '/no/such/program' } },
      { name: 'empty', options: {} },
      sdkServer('good', 'now', 'nexo'),
    ])
    await scene.reached('good', 'up')
    const detail = async (name: string) => (await scene.reached(name, 'down')).facts().detail
    expect(await detail('ends')).toMatch(/it ended \(exit code 1\); it said: no token given/)
    expect(await detail('errs')).toMatch(/not today/)
    expect(await detail('babbles')).toMatch(/handshake failed|initialize/)
    expect(await detail('absent')).toMatch(/cannot be started \(ENOENT\)/)
    expect(await detail('empty')).toMatch(/neither command, url nor plugin/)
    expect(scene.server('hangs').facts().state).toBe('connecting')
  })
})

describe('a server that crashes', () => {
  it('[S9.restart-backoff] is restarted, later and later', async () => {
    const clock = createTestClock()
    const scene = await openPool([badServer('loop', { initialize: 'exit' })], {
      clock,
      timings: { retryBaseMs: 1_000, retryMaxMs: 8_000 },
    })
    const pauses = () =>
      scene.log.lines
        .map((line) => JSON.parse(line) as { retryInMs?: number })
        .flatMap(({ retryInMs }) => (retryInMs === undefined ? [] : [retryInMs]))
    for (let round = 1; round <= 6; round++) {
      await until('it is down', () => pauses().length === round)
      expect(scene.server('loop').facts()).toMatchObject({ state: 'down', restarts: round - 1 })
      await clock.advance((pauses().at(-1) ?? 0) - 1)
      expect(scene.server('loop').facts().restarts).toBe(round - 1)
      await clock.advance(1)
    }
    const whole = [1_000, 2_000, 4_000, 8_000, 8_000, 8_000]
    for (const [at, pause] of pauses().slice(0, 6).entries()) {
      expect(pause).toBeGreaterThanOrEqual((whole[at] ?? 0) / 2)
      expect(pause).toBeLessThanOrEqual(whole[at] ?? 0)
    }
  })

  it('after a good while begins with a short pause again', async () => {
    const clock = createTestClock()
    const scene = await openPool([sdkServer('slack', 'now', 'nexo')], {
      clock,
      timings: { retryBaseMs: 1_000, retryMaxMs: 60_000, stableMs: 30_000, pingEveryMs: 10_000_000 },
    })
    for (let round = 0; round < 3; round++) {
      const server = await scene.reached('slack', 'up')
      await clock.advance(30_000)
      server.call('exit', {}, CALL).catch(() => undefined)
      await scene.reached('slack', 'down')
      expect(server.facts().detail).toMatch(/exit code 3\); the next try is in 1 s/)
      await clock.advance(1_000)
    }
  })

  it('in the middle of a message loses that one, and a call in flight is told as unknown', async () => {
    const startFile = join(folder(), 'starts')
    const scene = await openPool([
      badServer('frail', { startFile, dieMidMessage: true }),
      sdkServer('slack', 'before', 'claude'),
    ])
    await until('it came back', () => scene.server('frail').facts().restarts >= 2)
    expect(scene.server('frail').facts().noise).toBeGreaterThanOrEqual(1)
    expect(scene.news.frail).toEqual([])
    const slack = await scene.reached('slack', 'up')
    await expect(slack.call('exit', {}, CALL)).rejects.toMatchObject({ code: 'outcome_unknown' })
    await scene.reached('slack', 'up')
  })
})

describe('a server that writes what it should not', () => {
  it('garbage is counted, and what follows is heard', async () => {
    const message = (content: string) =>
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/nexo/channel', params: { content } })
    const garbage = ['npm notice', '{"jsonrpc":"1.0","method":"x"}', '[1, 2]', '{', '\u0000\u0001', '5']
    const scene = await openPool([
      badServer('noisy', {
        before: garbage,
        after: [...garbage, message('still here'), '', message('and here')],
      }),
    ])
    await scene.reached('noisy', 'up')
    await until('both are there', () => scene.texts('noisy').length === 2)
    // `[1, 2]` is a batch of two items that are not messages.
    expect(scene.server('noisy').facts()).toMatchObject({ noise: 14, restarts: 0, state: 'up' })
  })

  it('messages that would throw in whoever reads them are counted, and the pipe lives on', async () => {
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
    const lines = [
      `{"jsonrpc":"2.0","id":1234,"result":${deep}}`,
      `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`,
      `{"jsonrpc":"2.0","method":"notifications/else","params":${deep}}`,
      '{"jsonrpc":"2.0","method":{"toString":5}}',
      '{"jsonrpc":"2.0","id":9,"method":{"toString":5}}',
      `{"jsonrpc":"2.0","method":"notifications/nexo/channel","params":{"content":"deep","meta":{"a":${deep}}}}`,
      '{"jsonrpc":"2.0","method":"notifications/nexo/channel","params":{"content":"still here"}}',
    ]
    const scene = await openPool([badServer('deep', {})])
    const server = await scene.reached('deep', 'up')
    await server.call('emit', { lines }, CALL)
    await until('the last is there', () => scene.texts('deep').length > 0)
    expect(scene.texts('deep')).toEqual(['still here'])
    expect(server.facts()).toMatchObject({ restarts: 0, state: 'up', noise: 4 })
  })

  it('a line of 20 MB is skipped, and a batch is taken apart', async () => {
    const one = (content: string) => ({
      jsonrpc: '2.0',
      method: 'notifications/nexo/channel',
      params: { content },
    })
    const scene = await openPool([badServer('huge', { size: 20_000_000, flood: 1 })])
    const server = await scene.reached('huge', 'up')
    await until('it is counted', () => server.facts().noise === 1)
    await server.call('emit', { lines: [JSON.stringify([one('a'), one('b')])] }, CALL)
    expect(scene.texts('huge')).toEqual(['a', 'b'])
    expect(server.facts().state).toBe('up')
  })

  it('every malformed notification is heard as it came, for the parser to name', async () => {
    const scene = await openPool([badServer('odd', {})])
    const server = await scene.reached('odd', 'up')
    const params = [
      undefined,
      null,
      5,
      'x',
      [],
      {},
      { content: 1 },
      { content: 'x', meta: [] },
      { content: 'x', meta: { n: 3 } },
    ]
    const line = (one: unknown) =>
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/nexo/channel', params: one })
    await server.call('emit', { lines: params.map(line) }, CALL)
    const kinds = scene.news.odd?.map((news) => {
      const parsed = parseMessage('odd', news)
      return parsed.ok ? 'ok' : parsed.error.kind
    })
    expect(kinds).toEqual([
      'params',
      'params',
      'params',
      'params',
      'params',
      'content',
      'content',
      'meta',
      'meta',
    ])
    expect(server.facts()).toMatchObject({ state: 'up', noise: 0 })
  })
})

describe('capabilities', () => {
  it('in any spelling of true are seen, and do not break the handshake', async () => {
    const spelled = { t: true, s: 'yes', a: [1], n: 1, o: {}, f: false, z: 0, e: [] }
    const scene = await openPool(
      Object.entries(spelled).map(([name, value]) =>
        badServer(name, { capabilities: { 'claude/channel': value } }),
      ),
    )
    for (const name of Object.keys(spelled)) {
      const server = await scene.reached(name, 'up')
      expect([name, server.facts().prefix]).toEqual([name, 'tsano'.includes(name) ? 'claude' : null])
    }
  })

  it('that change from one start to the next are seen', async () => {
    const startFile = join(folder(), 'starts')
    const both = { 'nexo/channel': {}, 'nexo/channel/permission': {} }
    const scene = await openPool([
      badServer('moody', { startFile, capabilities: [both, {}, { 'nexo/channel': {} }], dieAfterMs: 300 }),
    ])
    const seen: string[] = []
    const moody = scene.server('moody')
    moody.onChange(() => {
      const { state, prefix, permissionRelay } = moody.facts()
      if (state === 'up') seen.push(`${prefix} ${permissionRelay}`)
    })
    await until('three starts', () => seen.length >= 3)
    expect(seen.slice(0, 3)).toEqual(['nexo true', 'null false', 'nexo false'])
  })
})

describe('floods and silence', () => {
  it('a flood is held back while it cannot be taken: nothing is lost, the order stays, the others go on', async () => {
    const scene = await openPool([
      badServer('flood', { flood: 20_000, size: 200 }),
      sdkServer('calm', 'now', 'nexo'),
    ])
    const release = scene.server('flood').hold()
    await scene.reached('flood', 'up')
    const calm = await scene.reached('calm', 'up')
    const params = { content: 'in between' }
    await calm.call('emit', { method: 'notifications/nexo/channel', params }, CALL)
    await until('it is there', () => scene.texts('calm').length === 1)
    const before = scene.news.flood?.length ?? 0
    release()
    await until('all are there', () => scene.news.flood?.length === 20_000)
    expect(before).toBeLessThan(20_000)
    const ids = scene.news.flood?.map(
      ({ params }) => (params as { meta: { message_id: string } }).meta.message_id,
    )
    expect(ids).toEqual(Array.from({ length: 20_000 }, (_, at) => String(at)))
  })

  it('[I8.flood-before] one that floods before it answers initialize is not read beyond the bound, and given up', async () => {
    const flooding = badServer('flood', { initialize: 'hang', floodBefore: 1_000_000, size: 1_000 })
    const scene = await openPool([flooding, sdkServer('calm', 'now', 'nexo')], {
      timings: { ...QUICK, initializeMs: 1_500 },
    })
    // The pushes waited for the server's declaration. They are delivered when the attempt is over, before the next
    // begins.
    const flood = await scene.reached('flood', 'down')
    const heard = scene.news.flood?.length
    expect(flood.facts().detail).toMatch(/no answer to initialize/)
    // 1,000, and what one more read of the pipe may bring. Its last lines are counted.
    expect(heard).toBeLessThan(1_200)
    await scene.reached('calm', 'up')
  })

  it('[I8.flood-before] one that answers initialize behind a small flood comes up, and nothing is lost', async () => {
    const scene = await openPool([badServer('eager', { floodBefore: 900, size: 200 })])
    await scene.reached('eager', 'up')
    await until('all are there', () => (scene.news.eager?.length ?? 0) >= 900)
    expect(scene.news.eager).toHaveLength(900)
  })

  it('one that answers nothing any more is started anew', async () => {
    const scene = await openPool(
      [badServer('deaf', { deafTo: ['ping'] }), sdkServer('good', 'now', 'nexo')],
      {
        timings: { ...QUICK, pingEveryMs: 100, pingTimeoutMs: 3_000 },
      },
    )
    await until('it came back', () => scene.server('deaf').facts().restarts >= 1)
    expect((await scene.reached('good', 'up')).facts().restarts).toBe(0)
  })

  it('a tool that never answers is told as unknown when its time is over', async () => {
    const scene = await openPool([sdkServer('slack', 'now', 'nexo')])
    const server = await scene.reached('slack', 'up')
    await expect(server.call('silent', {}, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    await expect(server.call('fail', {}, CALL)).resolves.toMatchObject({
      isError: true,
      text: 'not_in_channel',
    })
    expect(server.facts().state).toBe('up')
  })
})

describe('processes', () => {
  it('that ignore the end of their input are ended with the pool, their helpers too', async () => {
    const helper = join(folder(), 'helper')
    const scene = await openPool([badServer('stubborn', { stayOnEof: true, helper })])
    await scene.reached('stubborn', 'up')
    const pid = Number(readFileSync(helper, 'utf8'))
    expect(alive(pid)).toBe(true)
    await scene.pool.stop()
    await until('the helper is gone', () => !alive(pid))
  })

  it('[I8.stray-helper] whose helper left the family and keeps a pipe open are started again, and ended with the pool', async () => {
    const stray = join(folder(), 'stray')
    const scene = await openPool([badServer('frail', { stray, dieAfterMs: 50 })])
    onTestFinished(() => {
      for (const pid of readFileSync(stray, 'utf8').trim().split('\n')) process.kill(Number(pid), 'SIGKILL')
    })
    await until('it came back', () => scene.server('frail').facts().restarts >= 1)
    await scene.pool.apply([badServer('frail', { stray })])
    await scene.reached('frail', 'up')
    await scene.pool.apply([])
    expect(scene.pool.all()).toEqual([])
    await scene.pool.stop()
  })

  it('[I8.no-descriptors] that cannot be started for want of file descriptors are down, and come up when there are some', async () => {
    // Enough descriptors to load itself. It uses up the rest.
    const command = 'ulimit -n 256; exec "$0" "$@"'
    const args = [process.execPath, '--import', 'tsx', fixture('starved-host.ts')]
    const host = spawn('sh', ['-c', command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    host.stdout.on('data', (chunk) => {
      said += chunk
    })
    const code = await new Promise((resolve) => host.once('close', resolve))
    expect(said).toMatch(/^begun\ndown it cannot be started \(EMFILE\): too many files[^\n]*\n/)
    expect(said).toContain('\nup null\n')
    expect(code).toBe(0)
  })

  it('end when the daemon is killed without a word', async () => {
    const helper = join(folder(), 'helper')
    const host = spawn(process.execPath, ['--import', 'tsx', fixture('pool-host.ts'), helper], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const pid = Number(await new Promise((resolve) => host.stdout.once('data', resolve)))
    expect(alive(pid)).toBe(true)
    host.kill('SIGKILL')
    await until('the helper is gone', () => !alive(pid))
  })
})
