// `switchboard emulate PLATFORM`: a fake platform on this machine, to try everything without an account. It prints what the bot
// writes, and sends to the bot what is typed.
import { readFileSync } from 'node:fs'
import type { RunningEmulator, StartEmulator } from '../../../contract/index.ts'
import { openCatalog } from '../../../setup/catalog.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine, safeLines } from '../../output/text.ts'

export interface EmulateOptions {
  readonly port?: string
  readonly fault?: string
}

/** Its dependencies on the process. Tests pass their own. */
export interface EmulateDeps {
  onStop(run: () => void): void
  onLine(run: (line: string) => void): void
}

const DEFAULT_PORT = 8081

export const emulate: Run<EmulateOptions> = (context, [platform], options) =>
  runEmulate(context, platform ?? '', options, processDeps())

export async function runEmulate(
  context: Context,
  platform: string,
  options: EmulateOptions,
  deps: EmulateDeps,
): Promise<number> {
  const { start, names } = await emulatorOf(context, platform)
  if (!start) {
    throw usage(
      platform === '' ? 'no platform is named' : `there is no emulator of "${oneLine(platform)}"`,
      `there is: ${names.map((name) => `switchboard emulate ${name}`).join(', ')}`,
    )
  }
  const faults: unknown = options.fault === undefined ? [] : readJson(options.fault)
  const running = await start({
    port: portOf(options.port),
    faults,
    onBot: (line) => void context.print(`${context.paint.cyan('bot')} ${safeLines(line)}`),
  }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EADDRINUSE') throw thrown
    throw usage(`port ${portOf(options.port)} is taken`, 'choose another with --port')
  })
  await announce(context, { platform, running, faults: Array.isArray(faults) ? faults.length : 0 })
  deps.onLine((line) => speak(context, running, line))
  await new Promise<void>((resolve) => deps.onStop(resolve))
  await running.stop()
  return 0
}

function speak(context: Context, running: RunningEmulator, line: string): void {
  const tap = /^!tap\s+(\S.*)$/.exec(line.trim())?.[1]
  try {
    if (tap !== undefined) running.taps(tap)
    else if (line.trim() !== '') running.says(line)
  } catch (thrown) {
    context.note(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

async function announce(
  context: Context,
  { platform, running, faults }: { platform: string; running: RunningEmulator; faults: number },
): Promise<void> {
  const { url, token, integration, connector, environment, more } = running
  if (context.json) return void (await context.printJson({ ready: true, platform, url, token, faults }))
  const written = (given: Readonly<Record<string, string>>) =>
    Object.entries(given)
      .map(([key, value]) => `${key}: ${/^\d+$/.test(value) ? `"${value}"` : value}`)
      .join(', ')
  const lines = connector
    ? `  agents:\n    - { id: ${platform}, connector: { ${written(connector)} } }`
    : `  integrations:\n    - { ${written(integration)} }`
  const words = wordsIn().setupCommands.emulate
  const how = connector ? '' : `${words.open({ url })}\n`
  const variables = Object.entries(environment).map(([name, value]) => `  ${name}=${value}`)
  const command = connector ? null : commandFor(platform, integration)
  const quick =
    command === null
      ? `${words.secret}\n${variables.join('\n')}`
      : `${words.byCommand}\n  ${command}\n${variables.join('\n')}`
  await context.print(`${words.at({ platform, url, faults })}

${quick}

${command === null ? words.inFile : words.orInFile}
${lines}

${how}${more.map((line) => `  ${line}`).join('\n')}
`)
}

/** The same as one command. Null: a value is not a single word. */
function commandFor(platform: string, integration: Readonly<Record<string, string>>): string | null {
  const keys = Object.entries(integration).filter(
    ([key, value]) => key !== 'id' && key !== 'platform' && !value.startsWith('env:'),
  )
  if (keys.some(([, value]) => !/^[\w:/.-]+$/.test(value))) return null
  const set = keys.map(([key, value]) => ` --set ${key}=${value}`).join('')
  return `switchboard integrations add ${platform} --id ${integration.id ?? platform} --agent AGENT${set}`
}

/** The emulators that are built in, and those of the modules that the configuration names. */
async function emulatorOf(
  context: Context,
  platform: string,
): Promise<{ readonly start: StartEmulator | undefined; readonly names: readonly string[] }> {
  const { loaded } = await openCatalog(context.configFile())
  // A name of a platform and of a connector means the platform.
  const all = [
    ...loaded.platformNames.map((name) => loaded.platform(name)),
    ...loaded.connectorNames.map((name) => loaded.connector(name)),
  ].flatMap((module) => (module?.emulator === undefined ? [] : [{ ...module, start: module.emulator }]))
  const names = [...new Set(all.map(({ name }) => name))]
  return { start: all.find(({ name }) => name === platform)?.start, names }
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? DEFAULT_PORT)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw usage(`"${given}" is not a port`, 'give a number from 0 to 65535; 0 takes a free one')
}

function readJson(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw usage(
      `cannot read the fault plan ${file}`,
      'it is a file of JSON: see docs/guide/testing-adapters.md',
    )
  }
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw usage(`${file} is not JSON: ${thrown instanceof Error ? thrown.message : 'malformed'}`)
  }
}

function processDeps(): EmulateDeps {
  return {
    onStop(run) {
      process.once('SIGINT', run)
      process.once('SIGTERM', run)
    },
    onLine(run) {
      if (process.stdin.isTTY !== true) return
      let rest = ''
      process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) run(line)
      })
      // The process ends by a signal. Waiting for input must not keep it alive after that.
      process.stdin.unref()
    },
  }
}
