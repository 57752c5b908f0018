// `switchboard agents set|remove`, and `agents add --write`: the lines of an agent in switchboard.yaml are changed, the
// rest stays as it was written. The file is checked first: what does not hold is not written. A running daemon reads it.
import { existsSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { AgentEdit } from '../../../config/yaml/edit-agents.ts'
import type { StatusReport } from '../../../contract/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'
import { readValue } from '../../try-definition.ts'

export const setAgent: Run = async (context, [id = '', ...pairs]) => {
  if (pairs.length === 0)
    throw usage('nothing to set', 'write e.g. switchboard agents set kate notify_on=failure')
  const edits = pairs.map((pair): AgentEdit => {
    const cut = pair.indexOf('=')
    if (cut < 1) throw usage(`"${oneLine(pair)}" is not key=value`, 'key= alone takes the key away')
    const path = pair.slice(0, cut).split('.')
    if (path[0] === 'id')
      throw usage('an id is not changed: sessions belong to it', 'add another agent instead')
    const written = pair.slice(cut + 1)
    return { kind: 'set', id, path, value: written === '' ? undefined : readValue(written) }
  })
  return change(context, edits, { id, what: 'is changed' })
}

export const removeAgent: Run = (context, [id = '']) =>
  change(context, [{ kind: 'remove', id }], { id, what: 'is removed; its messages stay in the store' })

/**
 * Adds the agent to the file. Where the demo agent has the integration it gives it away, and a demo agent that is left without
 * any use goes from the file. Another agent keeps its integration.
 */
export async function addWritten(
  context: Context,
  agent: Readonly<Record<string, unknown>> & { readonly id: string },
  { instance, ...done }: { readonly instance: string } & Pick<Done, 'first' | 'jsonFields'>,
): Promise<number> {
  const text = readFileSync(fileOf(context).file, 'utf8')
  const { holderOf } = await import('../../../config/yaml/edit-agents.ts')
  const holder = holderOf(text, instance)
  if (holder !== null && holder.connector !== 'demo' && holder.id !== agent.id)
    throw usage(
      `integration "${oneLine(instance)}" goes to agent "${oneLine(holder.id)}" already, nothing was written`,
      'name another one with --bind PLATFORM:INTEGRATION, or remove that agent first',
    )
  const demo = holder === null || holder.id === agent.id ? null : holder
  const added: AgentEdit = { kind: 'add', agent }
  const edits: AgentEdit[] = [added]
  if (demo?.isLastUse) edits.push({ kind: 'remove', id: demo.id })
  else if (demo) edits.unshift({ kind: 'unbind', id: demo.id, at: demo.at })
  const took =
    demo === null ? '' : ` and has ${oneLine(instance)}, which the demo agent "${oneLine(demo.id)}" had`
  const goes = demo?.isLastUse ? '; nothing else used the demo agent, so it is removed' : ''
  const what = `is added${took}${goes}`
  return change(context, edits, { ...done, id: agent.id, what })
}

function fileOf(context: Context): { readonly named: string; readonly file: string } {
  const named = context.configFile()
  if (named === null)
    throw usage(
      'there is no switchboard.yaml to change',
      'switchboard init writes one, --config names another',
    )
  return { named, file: realpathSync(named) }
}

/** Whether the file refers to it: then it is not to be replaced. */
export function fileNames(context: Context, secret: string): boolean {
  return readFileSync(fileOf(context).file, 'utf8').includes(`secret:${secret}`)
}

interface Done {
  readonly id: string
  readonly what: string
  /** What the file will refer to: done when it is known to hold, before it is written. */
  readonly first?: () => Promise<void>
  /** More for `--json`. */
  readonly jsonFields?: Readonly<Record<string, string>>
}

/** Writes the file anew, or throws with what would be wrong with it. */
export async function change(context: Context, edits: readonly AgentEdit[], done: Done): Promise<number> {
  const { named, file } = fileOf(context)
  const { editAgents } = await import('../../../config/yaml/edit-agents.ts')
  const text = editAgents(readFileSync(file, 'utf8'), edits)
  const { checkText } = await import('../../configuration.ts')
  const problem = await checkText(text, file, context.folder)
  if (problem !== null)
    throw usage(`${oneLine(named)} would not hold any more, nothing was written:\n${problem}`)
  await done.first?.()
  const fresh = `${file}.${process.pid}.new`
  writeFileSync(fresh, text, { mode: statSync(file).mode & 0o777, flag: 'wx' })
  renameSync(fresh, file)
  const elsewhere = await readElsewhere(context, file)
  if (context.json)
    await context.printJson({
      ok: true,
      agent: done.id,
      file,
      ...(elsewhere ? { daemon_reads: elsewhere } : {}),
      ...done.jsonFields,
    })
  else await context.print(`${oneLine(done.id)} ${done.what} (${oneLine(named)})`)
  if (elsewhere)
    context.note(
      context.paint.yellow(`the running daemon reads ${oneLine(elsewhere)}: it does not hear of this change`),
    )
  return 0
}

/** What the running daemon reads instead of this file; null: this one, or none runs. */
async function readElsewhere(context: Context, file: string): Promise<string | null> {
  const daemon = await context.daemon().catch(() => null)
  if (daemon === null) return null
  const { config } = await daemon.call<StatusReport>('GET', '/api/status')
  if (config.file === null) return 'the embedded default'
  const read = existsSync(config.file) ? realpathSync(config.file) : config.file
  return read === file ? null : read
}
