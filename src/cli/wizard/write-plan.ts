// A plan becomes a file: new, or added to what is there line by line. The text is checked first; then secrets are kept; the
// file comes last, whole or not at all, so that nothing half-written is ever found.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { parseDocument, stringify } from 'yaml'
import { withItem } from '../../config/yaml/yaml-lines.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { daemonNow } from '../background.ts'
import type { Context } from '../context.ts'
import { usage } from '../failure.ts'
import { type Definition, putAt } from '../setup-answers.ts'
import { portLine } from '../starter-config.ts'
import type { FileFacts } from './file-facts.ts'
import { type Plan, secretNameOf } from './plan.ts'

export interface Written {
  readonly text: string
  /** By the name that the file refers to. */
  readonly secrets: ReadonlyMap<string, string>
}

/** The file's text with the plan in it. Throws when something of it cannot be added. */
export function textOf(plan: Plan, facts: FileFacts, port: number | null): Written {
  const secrets = new Map<string, string>()
  const refer = (id: string, definition: Definition, answers: ReadonlyMap<string, string>) => {
    const whole = structuredClone(definition)
    for (const [key, value] of answers) {
      secrets.set(secretNameOf(id, key), value)
      putAt(whole, key, `secret:${secretNameOf(id, key)}`)
    }
    return whole
  }
  const integrations = plan.integrations.map(({ definition, secrets: answers }) =>
    refer(definition.id, definition, answers),
  )
  // The first place of all is where notifications go, unless the file has said so.
  if (!facts.exists && integrations[0]) integrations[0].default = true
  const bindings = plan.integrations.map(({ definition: { id, platform } }) => ({
    plugin: platform,
    instance: id,
  }))
  const { agent } = plan
  const fresh =
    agent.kind === 'new'
      ? {
          id: agent.id,
          connector: refer(agent.id, agent.connector, agent.secrets),
          inbound_bindings: bindings,
        }
      : null
  if (!facts.exists) return { text: newFile(integrations, fresh === null ? [] : [fresh], port), secrets }
  let text = facts.text
  for (const one of integrations) text = added(text, ['integrations'], one)
  if (fresh !== null) text = added(text, ['agents'], fresh)
  else {
    const at = facts.agents.indexOf(agent.id)
    for (const binding of bindings) text = added(text, ['agents', at, 'inbound_bindings'], binding)
  }
  return { text, secrets }
}

/** By its lines where the list is written in lines; a list that is absent is begun; else the document itself is changed. */
function added(text: string, path: readonly (string | number)[], item: unknown): string {
  const byLines = withItem(text, path, item)
  if (byLines !== null) return byLines
  const document = parseDocument(text)
  if (path.length === 1 && document.get(String(path[0])) === undefined) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    return `${text}${gap}\n${String(path[0])}:\n${indented(stringify([item], { lineWidth: 0 }))}`
  }
  if (document.getIn(path) === undefined || document.getIn(path) === null)
    document.setIn(path, document.createNode([item]))
  else document.addIn(path, item)
  return document.toString({ lineWidth: 0 })
}

const indented = (yaml: string) =>
  yaml
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('')

function newFile(
  integrations: readonly Definition[],
  agents: readonly object[],
  port: number | null,
): string {
  return `# Switchboard's configuration. Check it with \`switchboard check\`; it is read again when it changes.
# Every key, with its default: \`switchboard schema\`. Add more with \`switchboard init\`.

server:
  host: 127.0.0.1 # loopback only; a public address needs an admin token
  ${portLine(port)}

# Where people talk. What is secret is kept encrypted and only referred to: \`switchboard secrets set NAME\` changes it.
integrations:
${indented(stringify(integrations, { lineWidth: 0 }))}
# Who answers, and where its messages come from.
agents:
${indented(stringify(agents, { lineWidth: 0 }))}`
}

/** Throws with what would be wrong; then nothing was kept and nothing written. */
export async function writePlan(
  context: Context,
  file: string,
  facts: FileFacts,
  { text, secrets }: Written,
  options: { readonly force: boolean },
): Promise<void> {
  const { checkText } = await import('../configuration.ts')
  const problem = await checkText(text, file, context.folder)
  if (problem !== null) throw usage(`${file} would not hold, nothing was written:\n${problem}`)
  const now = facts.exists ? readFileSync(file, 'utf8') : null
  if (now !== null && now !== facts.text)
    throw new SwitchboardError('conflict', `${file} was changed meanwhile; nothing was written`, {
      hint: 'run it again',
    })
  await keepSecrets(context, file, facts, secrets)
  writeWhole(file, text, facts.exists || options.force)
}

/** Through the daemon that runs, which uses them at once; else into the store that it will open. */
async function keepSecrets(
  context: Context,
  file: string,
  facts: FileFacts,
  secrets: Written['secrets'],
): Promise<void> {
  if (secrets.size === 0) return
  if ((await daemonNow(context)) !== null) {
    const daemon = await context.daemon()
    for (const [name, value] of secrets)
      await daemon.call('PUT', `/api/secrets/${encodeURIComponent(name)}`, { body: { value } })
    return
  }
  if (facts.ownStore)
    throw usage(
      `${file} has a store of its own, which a daemon has to open; nothing was written`,
      'start it, then run this again: switchboard up --detach',
    )
  const { keepSecretAtRest } = await import('../../setup/keep-secret.ts')
  const { data } = context.instanceOf(file)
  for (const [name, value] of secrets)
    await keepSecretAtRest({ dataDir: data.path, configFile: file, name, value })
}

/** Whole or not at all, also when the disk is full or the process is killed. `replace`: what is there gives way. */
export function writeWhole(file: string, text: string, replace: boolean): void {
  mkdirSync(dirname(file), { recursive: true })
  const target = replace && statSync(file, { throwIfNoEntry: false }) ? realpathSync(file) : file
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o644
  const beside = `${target}.${randomBytes(4).toString('hex')}.new`
  try {
    const handle = openSync(beside, 'wx', mode & 0o777)
    try {
      writeSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    if (replace) renameSync(beside, target)
    else linkSync(beside, target)
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new SwitchboardError('input_invalid', `${file} is there already`, {
        hint: 'overwrite it with --force, or write elsewhere with --config FILE',
      })
    throw new SwitchboardError('execution_failed', `cannot write ${file}: ${message}`, { cause: thrown })
  } finally {
    rmSync(beside, { force: true })
  }
}
