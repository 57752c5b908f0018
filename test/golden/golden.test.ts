// Golden files: what the product prints and serves on one fixed scenario, captured from outside and compared byte by byte.
// They may change only on purpose. To take them anew: npx vitest run test/golden -u, and read the difference.
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { post } from '../faults/hook-client.ts'
import { askJson, askLines, createScene, type Ran, switchboard } from '../faults/scene.ts'
import { createPlainText, withoutAges } from './plain.ts'
import { type Golden, playScenario } from './scenario.ts'

const scene = createScene('until-end')

/** In the order in which they run: later ones see what earlier ones changed. `{turn}` and the like are ids of the scenario. */
const COMMANDS: readonly string[] = [
  'version',
  'check',
  'status',
  'doctor',
  'turns list',
  'turns show {turn}',
  'turns export',
  'inbox',
  'outbox list',
  'outbox show {send}',
  'approvals list',
  'approvals show {approval}',
  'conversations list',
  'conversations show demo:dev',
  'schedules list',
  'agents list',
  'integrations list',
  'integrations paste demo',
  'integrations paste ci',
  'hooks show ci',
  'access list',
  'pair list',
  'people list',
  'people export demo:dev',
  'token list',
  'secrets list',
  'chorus list',
  'instances list',
  'audit verify',
  'approvals allow {approval}',
  'turns retry {failed}',
  'turns cancel {turn}',
  'outbox retry {send}',
  'outbox bury {reminder}',
  'send demo:dev hi from the operator',
  'conversations take demo:dev',
  'conversations say demo:dev I am here',
  'conversations give demo:dev',
  'access allow demo ann',
  'access approver demo ann',
  'access remove demo ann',
  'pair approve wrong',
  'pair deny wrong',
  'token mint --integration demo',
  'token revoke nothing',
  'secrets set GOLDEN',
  'secrets remove GOLDEN',
  'schedules run standup',
  'notify all is done',
  'integrations disable web',
  'integrations enable web',
  'integrations grant web demo',
  'integrations remove web',
  'agents set demo notify_on=both',
  'agents remove nothing',
  'hooks test demo',
  'hooks replay {turn}',
  'chorus connect demo',
  'chorus rotate nothing',
  'reload',
  'link',
  'console',
  'people erase demo:stranger --yes',
  'nonsense',
  'turns show nothing',
]

/** What is not captured, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  up: 'runs until it is stopped',
  stop: 'ends the daemon of the scenario',
  restart: 'ends the daemon of the scenario',
  init: 'writes files: src/cli/setup-transcripts.test.ts compares them',
  channel: 'speaks MCP on its standard streams',
  schema: 'is docs/reference and the schema of the configuration: src/config compares it',
  emulate: 'runs until it is stopped',
  completion: 'prints a script for a shell',
  'instances adopt': 'moves a data folder',
  'service install': 'writes a unit of this machine',
  'service uninstall': 'removes a unit of this machine',
  'service status': 'shows a unit of this machine',
  'import claude-access': "reads Claude Code's own folder",
  logs: 'prints lines with measured times',
  'audit export': 'prints the ledger with its digests',
  'audit head': 'prints one digest',
  'chorus verify': 'needs a service',
  'agents try': 'prints whether its answer was sent already, or is about to be',
  'agents add': 'asks, and writes: src/cli/setup-transcripts.test.ts compares it',
  'integrations add': 'asks, and writes: src/cli/setup-transcripts.test.ts compares it',
  'approvals deny': 'the one approval is allowed',
  'secrets rotate': 'seals all anew and prints how many',
  backup: 'writes a file: src/daemon/backup compares it',
  restore: 'needs an empty folder',
  help: 'is docs/guide/command-line.md',
}

interface Row {
  readonly id: string
  readonly state: string
  readonly text: string | null
}

let golden: Golden
let plain: (text: string) => string
let ids: Readonly<Record<string, string>>

beforeAll(async () => {
  golden = await playScenario(scene)
  const { data } = golden
  const [turns, sends] = [await askLines<Row>(data, 'turns'), await askLines<Row>(data, 'outbox')]
  const [approval] = await askLines<Row>(data, 'approvals')
  const node = (await askJson<{ node: string }>(data, 'status')).node
  const idOf = (rows: readonly Row[], wanted: (row: Row) => boolean) => rows.find(wanted)?.id ?? 'missing'
  ids = {
    turn: idOf(turns, (row) => row.text === 'hello'),
    failed: idOf(turns, (row) => row.state === 'failed'),
    send: idOf(sends, (row) => row.text === 'You said: hello'),
    reminder: idOf(sends, (row) => row.state === 'queued'),
    approval: approval?.id ?? 'missing',
  }
  plain = createPlainText([
    [data, '<data>'],
    [node, '<node>'],
    [hostname(), '<host>'],
    [ids.approval ?? '', '<approval>'],
  ])
})
afterAll(() => scene.end())

it('[I36.golden-text] what people read of doctor and status', async () => {
  for (const command of ['doctor', 'doctor --verbose', 'status', 'turns', 'approvals', 'conversations']) {
    const ran = await switchboard(golden.data, ...command.split(' '))
    await expect(withoutAges(plain(told(command, ran)))).toMatchFileSnapshot(fileOf('text', command))
  }
})

it('[I36.golden-json] the output of every command with --json', async () => {
  for (const command of COMMANDS) {
    const words = command.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing').split(' ')
    const ran = await switchboard(golden.data, ...words, '--json')
    await expect(`${plain(told(command, ran))}`).toMatchFileSnapshot(fileOf('commands', command))
  }
}, 300_000)

it('[I36.golden-json] every command is captured, or it is said why not', () => {
  const captured = COMMANDS.map((command) => command.split(' '))
  for (const path of leaves()) {
    const words = path.split(' ')
    const isCaptured = captured.some((line) => words.every((word, at) => line[at] === word))
    expect(isCaptured || path in LEFT_OUT, path).toBe(true)
  }
})

it('[I36.golden-api] the description of the API', async () => {
  const answer = await fetch(`${golden.daemon.url}/api/openapi.json`, { headers: admin() })
  expect(answer.status).toBe(200)
  const { paths, ...rest } = (await answer.json()) as { readonly paths: object }
  // The order of paths says nothing.
  const sorted = Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const text = `${JSON.stringify({ ...rest, paths: sorted }, null, 1)}\n`
  await expect(plain(text)).toMatchFileSnapshot('files/openapi.txt')
})

it('[I36.golden-api] the names of the metrics', async () => {
  const answer = await fetch(`${golden.daemon.url}/metrics`, { headers: admin() })
  const names = (await answer.text()).split('\n').filter((line) => line.startsWith('#'))
  await expect(`${names.join('\n')}\n`).toMatchFileSnapshot('files/metrics.txt')
})

it('what a webhook is answered', async () => {
  const { url } = golden.daemon
  const asked: readonly (readonly [string, string, Record<string, string>])[] = [
    ['/hooks/demo', 'hello', { 'x-sender': 'nobody' }],
    ['/hooks/demo', 'hello', {}],
    ['/hooks/demo', 'yes aaaaa', { 'x-sender': 'dev' }],
    ['/hooks/ci', 'hello', { 'x-webhook-secret': 'wrong' }],
    ['/hooks/none', 'hello', {}],
    ['/api/turns', '', {}],
  ]
  const lines: string[] = []
  for (const [path, body, headers] of asked) {
    const { status, text } = await post(`${url}${path}`, body, headers)
    lines.push(`${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}\n${status} ${text}\n`)
  }
  // How many turns came before depends on which tests of this file ran.
  const text = plain(lines.join('\n')).replace(/"t_\w+"/g, '"t_<number>"')
  await expect(text).toMatchFileSnapshot('files/hooks.txt')
})

function told(command: string, ran: Ran): string {
  return `$ switchboard ${command}\nexit ${ran.code}\n${ran.stdout}${ran.stderr === '' ? '' : `stderr:\n${ran.stderr}`}`
}

function fileOf(folder: string, command: string): string {
  return `files/${folder}/${command.replace(/[{}]/g, '').replace(/[^a-z0-9]+/gi, '-')}.txt`
}

function admin(): Record<string, string> {
  return { authorization: `Bearer ${readFileSync(join(golden.data, 'admin.token'), 'utf8').trim()}` }
}

/** The words of every command that does something by itself. */
function leaves(): readonly string[] {
  const program = createProgram(async () => {}, { out: () => {}, err: () => {} })
  const found: string[] = []
  const walk = (command: typeof program, path: string) => {
    if (command.commands.length === 0) found.push(path)
    for (const child of command.commands) walk(child as typeof program, `${path} ${child.name()}`.trim())
  }
  walk(program, '')
  return found
}
