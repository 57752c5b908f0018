// `switchboard secrets`: the encrypted store. A value comes from a prompt or a pipe and is never printed.
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'

export const listSecrets: Run = (context) =>
  context.reading(async (api) => {
    const { items } = await api.ask('GET /api/secrets')
    await printList(context, items, [{ title: 'NAME', value: (row) => row.name }], {
      empty: wordsIn().commandLine.empty.secrets,
    })
    return 0
  })

export const setSecret: Run<{ readonly value?: string }> = async (context, [name = ''], options) => {
  checkName(name)
  const daemon = await context.daemon()
  const value = await secretValue(context, name, options.value)
  await daemon.ask('PUT /api/secrets/{name}', { path: { name }, body: { value } })
  if (context.json) await context.printJson({ ok: true, name })
  else await context.print(wordsIn().setupCommands.secrets.kept({ name }))
  return 0
}

export const removeSecret: Run = async (context, [name = '']) => {
  checkName(name)
  const daemon = await context.daemon()
  await daemon.ask('DELETE /api/secrets/{name}', { path: { name } })
  if (context.json) await context.printJson({ ok: true, name })
  else await context.print(wordsIn().setupCommands.secrets.forgotten({ name }))
  return 0
}

export const rotateSecrets: Run = async (context) => {
  const daemon = await context.daemon()
  const result = await daemon.ask('POST /api/secrets/rotate')
  if (context.json) await context.printJson(result)
  else await context.print(wordsIn().setupCommands.secrets.rotated({ count: result.rotated }))
  return 0
}

async function secretValue(context: Context, name: string, given: string | undefined): Promise<string> {
  const words = wordsIn().setup
  if (given !== undefined) {
    context.warn(words.answers.visible({ flag: '--value' }))
    return nonEmpty(given)
  }
  if (!context.terminal.inputIsTty)
    return nonEmpty((await context.terminal.readInput()).replace(/\r?\n$/, ''))
  const question = words.question.hidden({ ask: wordsIn().setupCommands.secrets.ask({ name }) })
  return nonEmpty((await context.terminal.ask(question, { hidden: true })) ?? '')
}

function nonEmpty(value: string): string {
  if (value === '') throw usage('the value is empty', 'type it at the prompt, or pipe it in')
  return value
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(name)) {
    throw usage(
      `"${name}" is not a name for a secret`,
      'use letters, digits, _ . and -, starting with a letter or digit; the value does not go on the command line',
    )
  }
}
