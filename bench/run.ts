// The command `npm run bench`: Switchboard and its peers in one run, on loopback only. Everything that it starts ends
// with it.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startLoad } from './load/load.ts'
import { describeMachine, isMemoryDisk, type Machine, measureFdatasync } from './machine.ts'
import { measureAcross } from './measure/across.ts'
import { measureChannel } from './measure/channel.ts'
import { measureChorus } from './measure/chorus.ts'
import { measureClaims } from './measure/claims.ts'
import { measureClaudeCode } from './measure/claude-code.ts'
import { measureCluster } from './measure/cluster.ts'
import { type BenchContext, openWorkspace } from './measure/context.ts'
import { measureGrowth } from './measure/growth.ts'
import { measureHttpAgent } from './measure/http-agent.ts'
import { measureIntake, peersInstalled } from './measure/intake.ts'
import { measureLlmAgent } from './measure/llm-agent.ts'
import { measureMcp } from './measure/mcp.ts'
import { measureMicro } from './measure/micro.ts'
import { measureNotify } from './measure/notify.ts'
import { measureReady, measureRest } from './measure/ready.ts'
import { measureScale } from './measure/scale.ts'
import { measureSizes } from './measure/sizes.ts'
import { measureSlack } from './measure/slack.ts'
import { type BenchOptions, HELP, type Part, readOptions } from './options.ts'
import { keepReports, writePage } from './page/page.ts'
import { asJson, asTables, type BenchReport, NO_INTAKE } from './report.ts'
import type { ClusterParts } from './report-cluster.ts'
import { createRounds } from './rounds.ts'
import { type BenchPostgres, startBenchPostgres } from './servers/cluster.ts'
import { rounded } from './statistics.ts'
import { createWeather } from './weather.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const QUIET_LOAD = 0.5

async function bench(options: BenchOptions): Promise<BenchReport> {
  const at = new Date().toISOString()
  const warnings: string[] = []
  const say = (text: string) => console.error(text)
  if (options.entry === `${root}/dist/cli/main.js`) build()
  else if (!existsSync(options.entry)) throw new Error(`--entry: there is no ${options.entry}`)
  if (options.parts.has('intake') && options.peers && !peersInstalled()) installPeers(warnings)
  const workspace = openWorkspace(options.dir)
  process.on('exit', workspace.remove)
  const machine = describeMachine(workspace.path)
  warnings.push(...doubts(machine, options))
  for (const warning of warnings) say(`warning: ${warning}`)
  const load = startLoad()
  try {
    const secret = randomBytes(24).toString('hex')
    const weather = createWeather(say)
    const { freshFolder } = workspace
    const rounds = createRounds(say)
    const context: BenchContext = { options, load, secret, freshFolder, weather, rounds, say }
    const measured = async <Found>(part: Part, work: () => Promise<Found> | Found): Promise<Found | null> =>
      options.parts.has(part) ? await rounds.during(part, work) : null
    const postgres = <Found>(work: (server: BenchPostgres) => Promise<Found>) =>
      withPostgres(workspace.path, work)
    const fdatasync = rounded(measureFdatasync(workspace.path, 400), 3)
    say(`fdatasync p50 ${fdatasync} ms on ${machine.filesystem}`)
    const micro = await measured('micro', () => measureMicro(options.rounds))
    const ready = await measured('ready', () => measureReady(context))
    const rss = await measured('rss', () => measureRest(context))
    const intake = (await measured('intake', () => measureIntake(context))) ?? NO_INTAKE
    const growth = await measured('growth', () => measureGrowth(context))
    const sizes = await measured('sizes', () => measureSizes(context))
    const scale = await measured('scale', () => measureScale(context))
    const chorus = await measured('chorus', () => measureChorus(context))
    const http = await measured('http', () => measureHttpAgent(context))
    const slack = await measured('slack', () => measureSlack(context))
    const llm = await measured('llm', () => measureLlmAgent(context))
    const claudeCode = await measured('claude-code', () => measureClaudeCode(context))
    const channel = await measured('channel', () => measureChannel(context))
    const mcp = await measured('mcp', () => measureMcp(context))
    const claims = await measured('claims', () => postgres((server) => measureClaims(context, server)))
    const cluster = await measured('cluster', () => postgres((server) => measureNodes(context, server)))
    const cpu = (name: keyof typeof intake.servers) => intake.servers[name]?.cpu_us ?? null
    return {
      intake,
      ready_ms: ready?.first_ms ?? null,
      rss_mb: rss,
      ledger_growth: growth?.intake_p50 ?? null,
      cpu_us: {
        bare: cpu('bare'),
        insert: cpu('insert'),
        chat_sdk: cpu('chat_sdk'),
        bolt: cpu('bolt'),
        switchboard: cpu('switchboard'),
        draining: cpu('draining'),
      },
      fdatasync_p50_ms: fdatasync,
      ready,
      growth,
      sizes,
      scale,
      micro,
      chorus,
      http,
      slack,
      llm,
      claudeCode,
      channel,
      mcp,
      claims,
      cluster,
      at,
      parts: rounds.runs,
      machine,
      weather: weather.rounds,
      quick: options.quick,
      warnings,
    }
  } finally {
    await load.stop()
    workspace.remove()
  }
}

/** PostgreSQL on the measured disk. It runs as an unprivileged user, who must be able to enter. */
async function withPostgres<Found>(
  under: string,
  work: (postgres: BenchPostgres) => Promise<Found>,
): Promise<Found> {
  chmodSync(under, 0o755)
  const postgres = await startBenchPostgres(under)
  try {
    return await work(postgres)
  } finally {
    await postgres.stop()
  }
}

async function measureNodes(context: BenchContext, postgres: BenchPostgres): Promise<ClusterParts> {
  const across = await measureAcross(context, postgres)
  const notify = await measureNotify(context, postgres)
  return { nodes: await measureCluster(context, postgres), across, notify }
}

/** Reasons why the numbers of this run may be less reliable than they seem. */
function doubts(machine: Machine, options: BenchOptions): string[] {
  const found: string[] = []
  if (isMemoryDisk(machine.filesystem)) {
    found.push(
      `${options.dir} is on ${machine.filesystem}: nothing there is durable; give --dir on a real disk`,
    )
  }
  if (machine.load_1m > QUIET_LOAD) {
    found.push(`the machine is not quiet (load ${machine.load_1m}): look at the CPU time a message as well`)
  }
  if (!machine.pinned) found.push('no taskset or one core only: server and load generator share their cores')
  if (options.rounds < 9) found.push(`${options.rounds} rounds are fewer than the 9 that count`)
  return found
}

/** Builds in a separate process, because its output belongs on stderr. stdout is for the report. */
function build(): void {
  const script = `const { ensureBuilt } = await import('./scripts/ensure-built.mjs'); process.exit(ensureBuilt())`
  const args = ['--input-type=module', '--eval', script]
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) throw new Error('dist/ could not be built')
}

/** The package does not contain the peers. They are installed when the benchmark first needs them. */
function installPeers(warnings: string[]): void {
  console.error('installing the peers into bench/peers …')
  const args = ['ci', '--prefix', `${root}/bench/peers`, '--ignore-scripts', '--no-audit', '--no-fund']
  const done = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.status !== 0)
    warnings.push('the peers could not be installed: intake.vs_chat_sdk and intake.vs_bolt are null')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

try {
  const options = readOptions(process.argv.slice(2), root)
  if (options === null) console.log(HELP)
  else if (options.page !== null) {
    keepReports(options.page)
    for (const file of writePage()) console.log(`${file} is written`)
  } else {
    const report = await bench(options)
    console.log(options.json ? asJson(report) : asTables(report))
  }
} catch (thrown) {
  console.error(`bench: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  process.exit(1)
}
