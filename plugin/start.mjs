// What the plugin's .mcp.json starts: finds the Switchboard of this user and becomes its channel server. Claude Code copies
// the plugin elsewhere, so the program may lie beside it, in the marketplace's folder, where `switchboard init` or `up` last
// ran, or on the path. A registry is never asked. Where there is none, this is a server that says what to do.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = dirname(realpathSync(fileURLToPath(import.meta.url)))
const words = process.argv.slice(2)

const found = besidePlugin() ?? inMarketplace() ?? lastRun() ?? onPath()
if (found === null) sayWhatToDo()
else if (/\.[cm]?js$/.test(found)) {
  process.argv[1] = found
  await import(pathToFileURL(found).href)
} else {
  const child = spawn(found, words, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', sayWhatToDo)
  child.once('exit', (code) => process.exit(code ?? 1))
}

/** The plugin is used where the package lies. */
function besidePlugin() {
  return programIn(dirname(here))
}

/** The folder that the marketplace was added from: plugins/cache/MARKETPLACE/NAME/VERSION tells which one it is. */
function inMarketplace() {
  const folder = join(process.env.CLAUDE_CONFIG_DIR || join(homedir(), '.claude'), 'plugins')
  const known = readJson(join(folder, 'known_marketplaces.json'))
  const [, marketplace] = /[\\/]cache[\\/]([^\\/]+)[\\/][^\\/]+[\\/][^\\/]+$/.exec(here) ?? []
  const place = marketplace === undefined ? undefined : known?.[marketplace]?.installLocation
  return typeof place === 'string' ? programIn(place) : null
}

function programIn(folder) {
  const script = join(folder, 'dist', 'cli', 'main.js')
  return existsSync(script) && readJson(join(folder, 'package.json'))?.name === 'switchboard' ? script : null
}

/** `init` and `up` note which program they were. */
function lastRun() {
  const script = readJson(join(process.env.HOME || homedir(), '.switchboard', 'program.json'))?.script
  return typeof script === 'string' && isAbsolute(script) && existsSync(script) ? script : null
}

function onPath() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(folder, 'switchboard')
    if (isAbsolute(folder) && existsSync(program)) return realpathSync(program)
  }
  return null
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

// ---- nothing was found ------------------------------------------------------------------------------------

function sayWhatToDo() {
  const text =
    'Switchboard itself is not on this machine, or was never run by this user, so no messages arrive here. ' +
    'Get its source or its package, and in its folder run `npm ci && npm run build`, then in this project `node ' +
    'FOLDER/dist/cli/main.js init claude-code`; after that restart this session. (An installed package: `npm install -g ' +
    'FILE.tgz`, then `switchboard init claude-code`.)'
  const answers = {
    initialize: (params) => ({
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'switchboard', version: '0' },
      instructions: text,
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: [
        {
          name: 'switchboard_setup',
          description: 'Says how to set Switchboard up.',
          inputSchema: { type: 'object' },
        },
      ],
    }),
    'tools/call': () => ({ content: [{ type: 'text', text }], isError: true }),
  }
  process.stderr.write(`${text}\n`)
  createInterface({ input: process.stdin }).on('line', (line) => {
    let asked
    try {
      asked = JSON.parse(line)
    } catch {
      return
    }
    if (asked?.id === undefined || typeof asked.method !== 'string') return
    const answer = Object.hasOwn(answers, asked.method) ? answers[asked.method](asked.params) : null
    const told =
      answer === null
        ? { error: { code: -32601, message: `Method not found: ${asked.method}` } }
        : { result: answer }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...told })}\n`)
  })
}
