// `npm run bench`: Switchboard and its peers in one run. Loopback only; everything it starts ends with it.
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
import { measureSizes } from './measure/sizes.ts'
import { measureSlack } from './measure/slack.ts'
import { type BenchOptions, HELP, readOptions } from './options.ts'
import { asJson, asTables, type BenchReport, NO_INTAKE } from './report.ts'
import type { ClusterParts } from './report-cluster.ts'
import { startBenchPostgres } from './servers/cluster.ts'
import { rounded } from './statistics.ts'
import { createWeather } from './weather.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const QUIET_LOAD = 0.5

async function bench(options: BenchOptions): Promise<BenchReport> {
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
    const context: BenchContext = { options, load, secret, freshFolder, weather, say }
    const has = (part: Parameters<typeof options.parts.has>[0]) => options.parts.has(part)
    const fdatasync = rounded(measureFdatasync(workspace.path, 400), 3)
    say(`fdatasync p50 ${fdatasync} ms on ${machine.filesystem}`)
    const micro = has('micro') ? measureMicro(options.rounds) : null
    const ready = has('ready') ? await measureReady(context) : null
    const rss = has('rss') ? await measureRest(context) : null
    const intake = has('intake') ? await measureIntake(context) : NO_INTAKE
    const growth = has('growth') ? await measureGrowth(context) : null
    const sizes = has('sizes') ? await measureSizes(context) : null
    const chorus = has('chorus') ? await measureChorus(context) : null
    const http = has('http') ? await measureHttpAgent(context) : null
    const slack = has('slack') ? await measureSlack(context) : null
    const llm = has('llm') ? await measureLlmAgent(context) : null
    const claudeCode = has('claude-code') ? await measureClaudeCode(context) : null
    const channel = has('channel') ? await measureChannel(context) : null
    const mcp = has('mcp') ? await measureMcp(context) : null
    const cluster = has('cluster') ? await measureClusterParts(context, workspace.path) : null
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
        switchboard: cpu('switchboard'),
        draining: cpu('draining'),
      },
      fdatasync_p50_ms: fdatasync,
      ready,
      growth,
      sizes,
      micro,
      chorus,
      http,
      slack,
      llm,
      claudeCode,
      channel,
      mcp,
      cluster,
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

/** One PostgreSQL for all of it, on the measured disk. It runs as an unprivileged user, who must be able to walk in. */
async function measureClusterParts(context: BenchContext, under: string): Promise<ClusterParts> {
  chmodSync(under, 0o755)
  const postgres = await startBenchPostgres(under)
  try {
    const across = await measureAcross(context, postgres)
    const claims = await measureClaims(context, postgres)
    const notify = await measureNotify(context, postgres)
    return { nodes: await measureCluster(context, postgres), claims, across, notify }
  } finally {
    await postgres.stop()
  }
}

/** Why the numbers of this run may say less than they seem to. */
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

/** In a process of its own, because what it says on the way belongs on stderr: stdout is for the report. */
function build(): void {
  const script = `const { ensureBuilt } = await import('./scripts/ensure-built.mjs'); process.exit(ensureBuilt())`
  const args = ['--input-type=module', '--eval', script]
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) throw new Error('dist/ could not be built')
}

/** The peers are no part of the package: they are fetched when the benchmark first needs them. */
function installPeers(warnings: string[]): void {
  console.error('installing the peers into bench/peers …')
  const args = ['ci', '--prefix', `${root}/bench/peers`, '--ignore-scripts', '--no-audit', '--no-fund']
  const done = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) warnings.push('Vercel Chat SDK could not be installed: intake.vs_chat_sdk is null')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

try {
  const options = readOptions(process.argv.slice(2), root)
  if (options === null) console.log(HELP)
  else {
    const report = await bench(options)
    console.log(options.json ? asJson(report) : asTables(report))
  }
} catch (thrown) {
  console.error(`bench: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  process.exit(1)
}
