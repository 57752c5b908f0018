// The wizard in a real terminal, against the emulators: from an empty folder to an answer, run again, and given up half-way.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import { createScene, run } from './scene.ts'
import { KEYS, openTerminal } from './terminal-screen.ts'
import { until } from './until.ts'

const scene = createScene()
const NODE = `'${process.execPath}' '${BINARY}'`

it('[I18.wizard-where] [I18.wizard-who] [I18.wizard-hidden] [I18.wizard-tried] [I18.wizard-link] [I18.wizard-paste] [I18.wizard-starts] [I18.wizard-first-message] [I18.wizard-pairs] [I18.wizard-answer] [I18.wizard-again] [I18.wizard-ctrl-c] [I18.secret-prompt] from an empty folder to an answer on Telegram; again, to add; and given up', async (context) => {
  if ((await run('sh', ['-c', 'command -v script'], '.')).code !== 0)
    return context.skip('script(1), which gives a terminal, is not installed')
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const kate = fake.person()
  const home = scene.folder()
  const env = { ...bareEnvironment(), HOME: home }
  const file = join(home, 'switchboard.yaml')
  scene.onEnd(async () => void (await run('env', [`HOME=${home}`, process.execPath, BINARY, 'stop'], home)))
  const wizard = (...words: string[]) =>
    openTerminal(scene, [NODE, 'init', ...words].join(' '), { cwd: home, env })

  const first = wizard('--port', String(await freePort()), '--set', `telegram.api_root=${fake.url}`)
  await first.sees('Where do people talk to it?')
  for (const title of ['A chat page in the browser', 'A webhook', 'Telegram', 'Slack'])
    await first.sees(title)
  first.press(`${KEYS.down}${KEYS.down}${KEYS.space}${KEYS.enter}`)
  await first.sees('/newbot')
  await first.sees('(not shown)')
  first.press(`123:wrong-token${KEYS.enter}`)
  await first.sees(/no: telegram: [^\n]*once more, or Ctrl-C/)
  await first.sees('(not shown)')
  first.press(`${fake.token}${KEYS.enter}`)
  await first.sees(/telegram answers: this is @\w+/)
  await first.sees('Who answers?')
  expect(readdirSync(home).filter((name) => name.startsWith('switchboard.yaml'))).toEqual([])
  first.press(KEYS.enter)
  await first.sees('Start it now')
  first.press(KEYS.enter)
  await first.sees(/write to it: http:\/\/127\.0\.0\.1:\d+\/chat#/)
  await first.sees(/write to it: https:\/\/t\.me\/\w+/)
  await first.sees('Waiting for the first message')
  kate.says('hello')
  await first.sees('Kate (412587349) wrote on telegram')
  const code = await until('the code is told', () => /[0-9a-f]{6}/.exec(kate.sees().join('\n'))?.[0])
  await first.sees('The code that they were told')
  first.press(`000000${KEYS.enter}`)
  await first.sees('that is not their code')
  first.press(`${'\x7f'.repeat(6)}${code}${KEYS.enter}`)
  await first.sees('Is this you?')
  first.press(KEYS.enter)
  await first.sees('may talk and approve tool calls on telegram, as the user local (owner)')
  kate.says('hello again')
  await first.sees('Kate (412587349) wrote: hello again')
  await first.sees('You said: hello again')
  expect(await first.ended).toBe(0)
  expect(kate.sees()).toContain('You said: hello again')
  expect(first.shown()).not.toContain(fake.token)
  expect(first.shown()).not.toContain('wrong-token')
  const written = readFileSync(file, 'utf8')
  expect(written).toContain('token: secret:telegram.token')

  // Given up with Ctrl-C at a credential: not a byte changed, and nothing beside the file.
  const givenUp = wizard('--platform', 'slack')
  await givenUp.sees('"display_information"')
  await givenUp.sees('bot token')
  givenUp.press(KEYS.ctrlC)
  expect(await givenUp.ended).not.toBe(0)
  expect(givenUp.shown()).toContain('nothing was written')
  expect(readFileSync(file, 'utf8')).toBe(written)
  expect(readdirSync(home).filter((name) => name.includes('.new'))).toEqual([])

  // Again, to add: the daemon that runs takes it up.
  const again = wizard('--platform', 'webhook', '--no-wait')
  await again.sees('secret that the sender signs with')
  again.press(KEYS.enter)
  await again.sees('shown this once')
  await again.sees('demo, which is there already')
  again.press(KEYS.enter)
  await again.sees(/write to it: http:\/\/127\.0\.0\.1:\d+\/hooks\/webhook/)
  await again.sees('the daemon that runs has applied it')
  expect(await again.ended).toBe(0)
  const added = readFileSync(file, 'utf8')
  const before = written.split('\n')
  expect(added.split('\n').filter((line) => before.includes(line))).toEqual(before)
  expect(added).toContain('secret: secret:webhook.secret')

  // Ctrl-C at the question for the code ends the wait alone: the file stands, and so it is not said that nothing was written.
  const other = await createFakeTelegram({
    token: '7000000002:AAanother-token-of-the-emulator_01234',
    username: 'other_bot',
  })
  scene.onEnd(() => other.stop())
  const waited = wizard(
    '--platform',
    'telegram',
    '--set',
    `telegram.api_root=${other.url}`,
    '--agent',
    'demo',
    '--start',
  )
  await waited.sees('(not shown)')
  waited.press(`${other.token}${KEYS.enter}`)
  await waited.sees('Waiting for the first message')
  other.person().says('hello')
  await waited.sees('The code that they were told')
  waited.press(KEYS.ctrlC)
  expect(await waited.ended).toBe(0)
  expect(waited.shown()).toContain('they are let in by: switchboard pair approve CODE')
  expect(waited.shown()).not.toContain('nothing was written')
})
