// The page of email, followed from zero as a new user would, with the emulator and the daemon as processes of the built command
// line; and what a daemon loads that has a mailbox, or none.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bareEnvironment } from './daemon.ts'
import { openPage } from './emulated-page.ts'
import { askJson, askLines, createScene, run, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const page = openPage('email', scene)

/** The packages that a daemon loaded from its start to its end, as V8 wrote them. What is shipped is run, not the tests' bundle. */
async function loadedBy(data: string, config: string | null): Promise<ReadonlySet<string>> {
  const coverage = join(data, 'loaded')
  if (config !== null) writeFileSync(join(data, 'switchboard.yaml'), config)
  const given = config === null ? [] : ['--config', join(data, 'switchboard.yaml')]
  const child = spawn(process.execPath, [SHIPPED, 'up', '--json', '--port', '0', '--data', data, ...given], {
    cwd: data,
    env: { ...bareEnvironment(), NODE_V8_COVERAGE: coverage, MAIL_PASSWORD: 'x' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  scene.onEnd(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
  const ready = config === null ? '"pid"' : 'the mailbox cannot be read'
  await until(ready, () => said.includes(ready))
  child.kill('SIGTERM')
  await ended
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as {
      readonly result: readonly { readonly url: string }[]
    }
    return result.map(({ url }) => url)
  })
  return new Set(
    urls.filter((url) => url.startsWith('file:')).flatMap((url) => packagesIn(fileURLToPath(url))),
  )
}

/** A file of a package, or one of ours that names the packages that were taken into it. */
function packagesIn(file: string): readonly string[] {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/
  const own = name.exec(file)?.[1]
  if (own !== undefined) return [own]
  const regions = readFileSync(file, 'utf8').matchAll(/^\/\/#region (node_modules\/.*)$/gm)
  return [...regions].flatMap(([, path = '']) => name.exec(path)?.[1] ?? [])
}
const SHIPPED = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const LIBRARIES = ['imapflow', 'nodemailer', 'postal-mime', 'mailauth', 'html-to-text']

describe('the page of email', () => {
  it('[I19.from-zero] [I19.emulate] emulator, configuration, an answer, an attachment, an approval and a stranger, as written', async (context) => {
    if ((await run('sh', ['-c', 'command -v curl'], '.')).code !== 0)
      return context.skip('curl is not installed')
    const data = scene.folder()
    const { url, said } = await page.emulate(data, /_mailbox[\s\S]*nobody/)
    const [, imap = '', smtp = ''] =
      /imap: \{[^}]*port: (\d+)[\s\S]*smtp: \{[^}]*port: (\d+)/.exec(said) ?? []
    const here = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:8081', url)
        .replace('port: 8082', `port: ${imap}`)
        .replace('port: 8083', `port: ${smtp}`)
    const config = join(data, 'switchboard.yaml')
    const yaml = here(page.block('yaml', 'integrations:'))
    writeFileSync(config, yaml)
    // What the emulator prints is what the page says.
    for (const line of yaml.split('\n').slice(1, 8))
      expect(said).toContain(line.replace(/^ {2}(- | {2})/, '').trim())
    const env = page.environment()
    expect(env).toEqual({ MAIL_PASSWORD: expect.any(String) })
    expect(said).toContain(`MAIL_PASSWORD=${env.MAIL_PASSWORD}`)
    const daemon = await scene.start({ data, config, env })

    const [hello = ''] = /curl \S+\/_person -d '[^']+'/.exec(page.text) ?? []
    const [look = ''] = /curl \S+\/_mailbox\/\S+/.exec(page.text) ?? []
    const person = async (line: string) =>
      JSON.parse((await run('sh', ['-c', here(line).replace('curl', 'curl -sS')], data)).stdout) as unknown
    const does = (action: object) => person(hello.replace('{"text":"hello"}', JSON.stringify(action)))
    const sees = (part: string) => until(part, async () => JSON.stringify(await person(look)).includes(part))

    await until('the mailbox is read', async () =>
      JSON.stringify(await askJson(data, 'status')).includes('"link":"up"'),
    )
    expect(await person(hello)).toMatchObject({ ok: true })
    await sees('You said: hello')
    await does({ text: 'with a file', file: { name: 'a.csv', content: 'a,b' } })
    await sees('You said: with a file')
    await does({ text: 'deploy' })
    await sees('demo wants to run Deploy')
    await does({ tap: 'Allow' })
    await sees('Deployed')
    await does({ text: 'let me in', from: 'mallory@home.test' })
    const refused = await until('the stranger is refused', async () =>
      (await askLines<{ sender: string; reason: string }>(data, 'turns', '--state', 'refused')).at(0),
    )
    expect(refused).toMatchObject({ reason: 'sender_not_allowed' })
    expect(JSON.stringify(await person(look.replace('kate', 'mallory')))).not.toContain('subject')
    expect((await switchboard(data, 'doctor', '--verbose')).stdout).not.toContain(env.MAIL_PASSWORD)
    await daemon.terminate()
  })

  it('[I19.lazy] the mail libraries are loaded by a daemon with a mailbox, and by none without', async () => {
    // Nobody listens there: the libraries are loaded to find that out.
    const server = '{ host: 127.0.0.1, port: 1, password: env:MAIL_PASSWORD, tls: false }'
    const mailbox = `integrations:\n  - { id: mail, platform: email, address: a@b.test, imap: ${server}, smtp: ${server} }\n`
    const found = async (config: string | null) => {
      const packages = await loadedBy(scene.folder(), config)
      expect(packages.has('pino')).toBe(true)
      return LIBRARIES.filter((name) => packages.has(name))
    }
    expect(await found(mailbox)).toEqual(expect.arrayContaining(['imapflow', 'nodemailer', 'postal-mime']))
    expect(await found(null)).toEqual([])
  })
})
