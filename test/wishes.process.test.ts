// Follows the pages of docs/wishes/ by typing what they say and nothing else, from an empty folder; the port is another one.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { startClaudeCode } from '../src/testing/emulate.ts'
import { freePort } from '../src/testing/free-port.ts'
import { createScene, run } from './faults/scene.ts'
import { KEYS, openTerminal } from './faults/terminal-screen.ts'
import { until } from './faults/until.ts'
import { snippetsOf } from './page-snippets.ts'

/** The built files, or those of a package that was installed somewhere. */
const MAIN = process.env.SWITCHBOARD_MAIN ?? join(import.meta.dirname, '../dist/cli/main.js')
const scene = createScene()
let home = ''
let folder = ''
/** What the pages write, and what is free here. */
let ports: ReadonlyMap<string, number>
beforeEach(async () => {
  home = scene.folder()
  folder = join(home, 'empty')
  mkdirSync(folder)
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin/switchboard'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
  chmodSync(join(home, 'bin/switchboard'), 0o755)
  ports = new Map([
    ['4747', await freePort()],
    ['8080', await freePort()],
    ['8081', await freePort()],
  ])
  scene.onEnd(async () => void (await type('switchboard stop').catch(() => undefined)))
})

const here = (text: string) => text.replace(/\b(?:4747|808[01])\b/g, (one) => String(ports.get(one)))
const environment = () => ({
  HOME: home,
  PATH: `${join(home, 'bin')}:${process.env.PATH ?? ''}`,
  LANG: 'C.UTF-8',
})

/** What a shell prints for it. Throws where a line fails. */
function type(text: string): Promise<string> {
  const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', here(text)], {
    ...{ cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr]) stream?.on('data', (chunk) => (said += String(chunk)))
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('exit', (code) => (code === 0 ? resolve(said) : reject(new Error(`exit ${code}: ${said}`))))
  })
}

/** In a terminal of its own, until the test ends. */
function keepRunning(words: readonly string[], shows: RegExp): Promise<RegExpExecArray> {
  const [program = '', ...rest] = words.map(here)
  const child = spawn(program, rest, {
    ...{ cwd: folder, env: environment(), stdio: ['pipe', 'pipe', 'inherit'] },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  scene.onEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  return until(`${words.join(' ')} shows ${shows}`, () => shows.exec(said))
}

/** A line at a real terminal, where hidden answers are typed. */
async function typeHidden(line: string, answers: readonly (readonly [ask: string, answer: string])[]) {
  const screen = openTerminal(scene, here(line), { cwd: folder, env: environment() })
  for (const [ask, answer] of [...answers, ['keep it as', '']] as const) {
    // Not before it is asked: what is typed ahead a terminal echoes, and what to paste names the tokens, too.
    await screen.sees(answer === '' ? ask : new RegExp(`${ask}[^\\n]*\\(hidden\\)`))
    screen.press(`${answer}${KEYS.enter}`)
  }
  expect(await screen.ended, screen.shown()).toBe(0)
  for (const [, answer] of answers) expect(screen.shown()).not.toContain(answer)
  return screen.shown()
}

/** As a person at the emulator: says hello, is told a code, is let in by typing what the page says, and says it again. */
async function paired(hello: string, look: string, pair: string): Promise<void> {
  await type(hello)
  const code = await until('the code is told', async () => /\b[0-9a-f]{6}\b/.exec(await codeIn(look))?.[0])
  expect(await type(pair.replace(/approve \w+/, `approve ${code}`))).toContain(code)
  await type(hello)
}
async function codeIn(look: string): Promise<string> {
  return /pair\w*[^"]*/i.exec(await type(look))?.[0] ?? ''
}

const needsTerminal = async () => (await run('sh', ['-c', 'command -v script curl'], '.')).code !== 0
const NO_TERMINAL = 'script(1), which gives a terminal, or curl is not installed'

const typed = (page: string) =>
  snippetsOf(`docs/wishes/${page}.md`)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)

it('[I18.wish-ci] an alert of CI is stored, read by the agent and told to the person', async () => {
  const [prepare = '', alert = '', look = ''] = typed('alerts-from-ci')
  expect(await type(prepare)).toContain('/chat#ticket=')
  expect(readFileSync(join(folder, '.switchboard/.gitignore'), 'utf8')).toBe('*\n')
  expect(JSON.parse(await type(alert))).toMatchObject({ ok: true, state: 'queued' })
  await until('the person is told', async () => /sent/.test(await type('switchboard outbox --json')))
  const told = await type(look)
  expect(told).toContain('alerts')
  expect(told).toContain('answered')
  expect(await type('switchboard outbox --json')).toContain('build 412 of main failed')
})

it('[I18.wish-cron] what a cron says arrives, confirmed', async () => {
  const [prepare = '', say = ''] = typed('a-cron-that-tells-me')
  expect(await type(prepare)).toContain('/chat#ticket=')
  expect(await type(say)).toMatch(/sent/)
  expect(await type('switchboard outbox --json')).toContain('The backup is done.')
})

it('[I18.wish-telegram] what is said on Telegram reaches Claude Code, and its answer comes back', async (context) => {
  if (await needsTerminal()) return context.skip(NO_TERMINAL)
  const [prepare = '', start = '', pair = '', emulated = ''] = typed('telegram-to-claude-code')
  const [init = '', up = '', add = ''] = prepare.trim().split('\n')
  const [addThere = '', hello = '', look = ''] = emulated.trim().split('\n')
  expect(addThere).toContain(add)
  const [, token = ''] = await keepRunning(
    ['switchboard', 'emulate', 'telegram', '--port', '8081'],
    /TOKEN=(\S+)[\s\S]*_chat/,
  )
  // What the page says next is what the command itself says.
  expect(await type(init)).toContain(start.trim())
  await type(up)
  expect(await typeHidden(addThere, [['token of the bot', token]])).toMatch(
    /this is @\w+[\s\S]*write to it: https:\/\/t\.me\//,
  )

  // Claude Code is played: it starts what the project's .mcp.json names.
  const { mcpServers } = JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')) as {
    readonly mcpServers: { readonly switchboard: { readonly command: string; readonly args: string[] } }
  }
  const [, channel = ''] = /channels (\S+)/.exec(start) ?? []
  const claude = await startClaudeCode({
    ...mcpServers.switchboard,
    ...{ cwd: folder, env: environment(), channels: [channel] },
  })
  scene.onEnd(async () => void (await claude.close()))
  expect(claude.skipped).toBeNull()
  claude.onPrompt = ({ content, meta }) =>
    void claude.call('reply', { chat_id: meta.chat_id, text: `Claude heard: ${content}` })

  await paired(hello, look, pair)
  await until('the answer is there', async () => (await type(look)).includes('Claude heard: hello'))
})

it('[I18.wish-slack] what is said on Slack reaches the HTTP agent, and its answer comes back', async (context) => {
  if (await needsTerminal()) return context.skip(NO_TERMINAL)
  const page = 'slack-to-my-own-agent'
  const [prepare = '', paste = '', add = '', pair = '', emulated = ''] = typed(page)
  const [addThere = '', hello = '', look = ''] = emulated.trim().split('\n')
  expect(addThere).toContain(add.trim())
  const program = snippetsOf(`docs/wishes/${page}.md`).find(({ language }) => language === 'js')
  writeFileSync(join(folder, 'agent.mjs'), here(program?.text ?? ''))
  const log = "await import('./agent.mjs'); console.log('listens')"
  await keepRunning([process.execPath, '--input-type=module', '-e', log], /listens/)
  const [, bot = '', app = ''] = await keepRunning(
    ['switchboard', 'emulate', 'slack', '--port', '8081'],
    /BOT_TOKEN=(\S+)[\s\S]*APP_TOKEN=(\S+)[\s\S]*_channel/,
  )
  expect(await type(prepare)).toMatch(/whsec_|shown/)
  expect(await type(paste)).toContain('"display_information"')
  await typeHidden(addThere, [
    ['bot token', bot],
    ['app-level token', app],
  ])
  await paired(hello, look, pair)
  await until('the answer is there', async () => (await type(look)).includes('You said: hello'))
})
