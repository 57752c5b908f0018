// Claude Code as a new user has it: `init`, the web chat and Telegram, an approval, a question answered by a button, a stop, and the
// daemon killed in mid-turn and in mid-approval. The program is the double, which notes every command that it runs.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { expectLedgerHolds, settled, turnsOf } from './river-checks.ts'
import { askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KATE = '412587349'
const DOUBLE = fileURLToPath(
  new URL('../../src/agents/claude-code/fixtures/claude-double.mjs', import.meta.url),
)

async function setUp() {
  const telegram = await createFakeTelegram()
  scene.onEnd(() => telegram.stop())
  const data = scene.folder()
  const [config, command, work] = ['switchboard.yaml', 'claude', 'work'].map((name) => join(data, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(work)
  writeFileSync(command, `#!/bin/sh\nexport HOME="${data}"\nexec "${process.execPath}" "${DOUBLE}" "$@"\n`)
  chmodSync(command, 0o755)
  writeFileSync(join(data, 'telegram.token'), telegram.token, { mode: 0o600 })
  const words = ['--platform', 'web', '--agent', 'claude-code', '--command', command, '--cwd', work]
  const made = await switchboard(data, 'init', ...words, '--yes', '--no-start', '--config', config)
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('Claude Code 2.1.325, signed in') })
  const file = parse(readFileSync(config, 'utf8'))
  const [agent] = file.agents
  file.integrations.push({
    ...{ id: 'tg', platform: 'telegram', token: 'file:telegram.token', api_root: telegram.url },
    ...{ mode: 'polling', access: { dm: 'allowlist', allow_from: [KATE], approvers: [KATE] } },
  })
  agent.inbound_bindings.push({ plugin: 'telegram', instance: 'tg' })
  agent.connector.env = { HOME: data }
  writeFileSync(config, stringify(file))
  const kate = telegram.person()
  const sawTimes = (part: string) => kate.sees().filter((text) => text.includes(part)).length
  return {
    ...{ data, kate, sawTimes },
    ran: () =>
      existsSync(join(work, 'ran.log')) ? readFileSync(join(work, 'ran.log'), 'utf8').trim().split('\n') : [],
    start: () => scene.start({ data, config }),
    sees: (part: string) => until(`Kate sees ${part}`, () => sawTimes(part) > 0),
    /** The newest that was asked and is not among `before`. */
    asks: (before: readonly string[]) =>
      until('it asks', () =>
        kate
          .sees()
          .flatMap((text) => /yes ([a-km-z]{5})/.exec(text)?.[1] ?? [])
          .find((id) => !before.includes(id)),
      ),
  }
}

it('[I22.cc-journey] [I22.cc-choices] init and Telegram: an approval, a question by its button, a stop, kill -9 in mid-turn and in mid-approval', async () => {
  const { data, kate, start, sees, sawTimes, asks, ran } = await setUp()
  let daemon = await start()
  kate.says('hello there')
  await sees('You said: hello there')

  kate.says('call Bash {"command":"make it"}')
  const first = await asks([])
  kate.says(`yes ${first}`)
  await sees('The tool said: ran make it')

  // The button of the question is its answer; a second tap on it is told that it is over.
  kate.says('ask')
  await sees('Which colour?')
  kate.taps('2. Blue')
  await sees('"Which colour?"="Blue"')
  kate.taps('1. Red')
  await sees('That question is over')

  kate.says('endless')
  await sees('it begins')
  kate.says('/stop')
  await sees('topped')
  kate.says('hello again')
  await sees('You said: hello again')

  // In mid-turn: the tool is allowed and runs.
  kate.says('call Bash {"command":"sleep 100000"}')
  const second = await asks([first])
  kate.says(`yes ${second}`)
  await until('the verdict was passed on', async () =>
    (await askLines<{ id: string; state: string }>(data, 'approvals', 'list', '--all')).some(
      ({ id, state }) => id === second && state === 'relayed',
    ),
  )
  await daemon.kill9()
  daemon = await start()
  await until('it went on', () => sawTimes('I went on') === 1)

  // In mid-approval: what was never allowed does not run, and the question ends with its turn.
  kate.says('call Bash {"command":"touch never"}')
  const third = await asks([first, second])
  await daemon.kill9()
  daemon = await start()
  await until('it went on', () => sawTimes('I went on') === 2)
  await sees('no longer asked')
  kate.says(`yes ${third}`)
  await settled(data)
  expect(ran()).toEqual(['make it'])
  expect((await turnsOf(data)).filter(({ state }) => ['queued', 'handed', 'seen'].includes(state))).toEqual(
    [],
  )
  await expectLedgerHolds(data)
  await daemon.terminate()
  expect(readdirSync(join(data, 'processes'))).toEqual([])
})
