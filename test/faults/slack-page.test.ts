// The page of Slack, followed from zero as a new user would: its own configuration, variables and curl lines, taken from its
// text, with the emulator and the daemon as processes of the built command line.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPage } from './emulated-page.ts'
import { askJson, askLines, createScene, run, switchboard } from './scene.ts'
import { until } from './until.ts'

const WRITTEN_URL = 'http://127.0.0.1:8081'
const scene = createScene()
const { text: PAGE, block, environment, emulate } = openPage('slack', scene)

describe('the page of Slack', () => {
  it('[I15.from-zero] [S14.cli-emulate] emulator, configuration, pairing, an answer, an approval and the manifest, as written', async (context) => {
    if ((await run('sh', ['-c', 'command -v curl'], '.')).code !== 0)
      return context.skip('curl is not installed')
    const data = scene.folder()
    const { url, said } = await emulate(data, /slack is emulated at [\s\S]*_link/)
    const here = (text: string) => text.replaceAll(WRITTEN_URL, url)
    const config = join(data, 'switchboard.yaml')
    writeFileSync(config, here(block('yaml', 'integrations:')))
    const env = environment()
    expect(Object.keys(env)).toEqual(['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN'])
    for (const [name, value] of Object.entries(env)) expect(said).toContain(`${name}=${value}`)
    await scene.start({ data, config, env })

    const [hello = ''] = /curl \S+\/_person -d '[^']+'/.exec(PAGE) ?? []
    const [look = ''] = /curl \S+\/_channel\/\w+/.exec(PAGE) ?? []
    const person = (line: string) => run('sh', ['-c', here(line).replace('curl', 'curl -sS')], data)
    const asked = async (address: string) => (await fetch(address)).text()
    const chat = here(look).replace('curl ', '')
    const sees = (part: string) => until(part, async () => (await asked(chat)).includes(part))

    await until('the link', async () => (await asked(`${url}/_link`)).includes('"open":1'))
    expect(JSON.parse((await person(hello)).stdout)).toMatchObject({ ok: true })
    await sees('pair')
    const [pending] = await askLines<{ readonly code: string }>(data, 'pair', 'list')
    expect((await switchboard(data, 'pair', 'approve', pending?.code ?? '', '--me')).code).toBe(0)
    await person(hello)
    await sees('You said: hello')
    await person(hello.replace('hello', 'deploy'))
    await sees('demo wants to run Deploy')
    await person(hello.replace('"text":"hello"', '"tap":"Allow"'))
    await sees('🚀 Deployed')
    expect((await person(look)).stdout).toContain('🚀 Deployed')

    const pasted = await switchboard(data, 'integrations', 'paste', 'slack')
    const manifest = JSON.parse(pasted.stdout.slice(pasted.stdout.indexOf('{'))) as {
      readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } }
    }
    expect(manifest.oauth_config.scopes.bot).toContain('chat:write')
    const tokens = ['--bot-token', env.SLACK_BOT_TOKEN ?? '', '--app-token', env.SLACK_APP_TOKEN ?? '']
    const more = ['--id', 'again', '--agent', 'demo', '--set', `api_url=${url}/api/`]
    const added = await switchboard(data, 'integrations', 'add', 'slack', ...tokens, ...more)
    expect(added.stderr).toContain('slack answers: this is @switchboard in Emulated')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('again (slack)') })
    const checked = JSON.stringify(await askJson(data, 'doctor'))
    expect(checked).toContain('scopes are granted')
    for (const text of [pasted.stdout, added.stdout, added.stderr, checked])
      expect(text).not.toMatch(/xoxb-7|xapp-1/)
  })
})
