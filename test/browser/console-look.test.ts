// How the console looks and bears: axe on every page in light, dark, wide and narrow; hostile text; weight; other hosts; roles; keys.
import { expect, it } from 'vitest'
import { SCOPE } from '../scenarios/deal.ts'
import {
  consoleBrowser,
  createConsoleScenes,
  goTo,
  PAGES,
  picture,
  settled,
  violations,
} from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

// Each colour and each width once in every run.
const LOOKS = [
  ['light', {}],
  ['narrow-dark', { width: 390, height: 844, dark: true }],
  ...(SCOPE === 'all'
    ? ([
        ['dark', { dark: true }],
        ['narrow', { width: 390, height: 844 }],
      ] as const)
    : []),
] as const

const HOSTILE = `"><img src=x onerror="window.hurt=1"><script>window.hurt=1</script><style>body{display:none}</style>\u202Egnp.exe [x](javascript:window.hurt=1)`

it('[I21.con-axe] [I21.con-inject] [I21.con-own-host] [I21.con-csp] [I21.con-rows-linked] [S15.keyboard] every page is clean for axe, whatever others wrote, and asks nobody else', async () => {
  const at = await begin()
  await at.hook('ci', HOSTILE)
  await at.hook('pager', HOSTILE)
  await at.hook('ci', 'deploy')
  const stranger = at.telegram.person({ name: '<b onclick=window.hurt=1>Mallory</b>' } as never)
  stranger.says(HOSTILE)
  // A file on disk whose text is hostile, and refused.
  at.writeConfig((text) => `${text}"<script>window.hurt=1</script>": "<img src=x onerror=window.hurt=1>"\n`)
  const asked = new Set<string>()
  for (const [name, options] of LOOKS) {
    const { page, complaints, context } = await at.enter('kate', options)
    page.on('request', (request) => asked.add(new URL(request.url()).origin))
    for (const place of PAGES) {
      await goTo(page, place)
      await settled(page)
      await picture(page, `${place}-${name}`)
      expect([place, name, await violations(page)]).toEqual([place, name, []])
      expect([place, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
        place,
        true,
      ])
    }
    for (const [list, kind] of [
      ['conversations', 'conversations'],
      ['turns', 'turns'],
      ['outbox', 'outbox'],
      ['approvals', 'approvals'],
    ] as const) {
      await goTo(page, list)
      await settled(page)
      const first = page.locator(`main a[href^="#/${kind}/"]`).first()
      await first.waitFor()
      await goTo(page, ((await first.getAttribute('href')) ?? '').slice(2))
      await settled(page)
      if (kind === 'conversations') {
        // As its holder sees it, and on a phone.
        await page.getByRole('button', { name: 'Take over' }).click()
        await page.getByLabel('Write as a person').waitFor()
        await picture(page, `held-${name}`)
      }
      expect([kind, name, await violations(page)]).toEqual([kind, name, []])
      expect([kind, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
        kind,
        true,
      ])
      if (kind === 'conversations') await page.getByRole('button', { name: 'Give back' }).click()
    }
    await goTo(page, 'config')
    await page.getByText('Rejected: the file on disk is not valid').waitFor()
    expect(await page.evaluate('window.hurt')).toBeUndefined()
    expect(await page.locator('main script, main style, main img, main iframe').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  }
  expect([...asked]).toEqual([at.daemon.url])
})

it('[I21.con-weight] [I21.con-gzip] [I21.con-csp] the first page with its charts is under 200 kB compressed, and its policy forbids what it does not need', async () => {
  const at = await begin()
  const { page, context } = await at.enter()
  await context.clearCookies()
  const paths = new Set<string>()
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname
    if (path === '/' || path.startsWith('/assets/')) paths.add(path)
  })
  await page.goto('about:blank')
  await page.goto(await at.link())
  await page.locator('.chart canvas').first().waitFor()
  const bytes = new Map<string, number>()
  for (const path of paths) {
    const answer = await fetch(at.daemon.url + path, { headers: { 'accept-encoding': 'gzip' } })
    // As it goes over the wire: what is not compressed counts as it is.
    bytes.set(path, Number(answer.headers.get('content-length')))
  }
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0)
  expect([...bytes.keys()].some((path) => path.includes('plot'))).toBe(true)
  expect(total).toBeGreaterThan(10_000)
  expect(total).toBeLessThan(200_000)
  const script = [...bytes.keys()].find((path) => /console-.*\.js$/.test(path)) ?? ''
  const small = await fetch(at.daemon.url + script, { headers: { 'accept-encoding': 'gzip' } })
  expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual([
    'gzip',
    'accept-encoding',
  ])
  const plain = await fetch(at.daemon.url + script, { headers: { 'accept-encoding': 'gzip;q=0' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await plain.text()).toBe(await small.text())
  const home = await fetch(`${at.daemon.url}/`)
  const policy = home.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|\*/)
  expect(await home.text()).not.toMatch(/<script>|<style|style=| on\w+=/)
})

it('[I21.con-roles] [I21.con-approver] [I21.con-link-right] each role sees what it may, and is refused what is hidden', async () => {
  const at = await begin()
  await at.hook('ci', 'deploy')
  const otto = await at.enter('otto')
  const anna = await at.enter('anna')
  const titles = (page: typeof otto.page) => page.locator('.side nav a > span:first-child').allTextContents()
  expect(await titles(anna.page)).toEqual(['Approvals'])
  expect(await titles(otto.page)).not.toContain('Try it')
  await goTo(otto.page, 'approvals')
  await otto.page.getByText('Your role may look, and not decide.').waitFor()
  expect(await otto.page.getByRole('button', { name: /Allow/ }).count()).toBe(0)
  await goTo(otto.page, 'people')
  await settled(otto.page)
  expect(await otto.page.getByText('A person’s data').count()).toBe(0)
  // Whatever the address says, nothing else is shown; and what is called by hand is refused.
  await goTo(anna.page, 'turns')
  await anna.page.getByRole('heading', { name: 'Approvals' }).waitFor()
  const calls = (page: typeof otto.page, list: readonly (readonly [string, string, unknown?])[]) =>
    page.evaluate(
      (wanted) =>
        Promise.all(
          wanted.map(async ([method, path, body]) => {
            const init = { method: method as string, headers: { 'content-type': 'application/json' } }
            const answer = await fetch(
              path as string,
              body === undefined ? init : { ...init, body: JSON.stringify(body) },
            )
            return answer.status
          }),
        ),
      list,
    )
  const refused = [
    ['POST', '/api/approvals/aaaaa/decide', { behavior: 'allow' }],
    ['POST', '/api/agents/demo/try', { text: 'hello' }],
    ['POST', '/api/people/erase', { who: 'ci:dev' }],
    ['POST', '/api/console-link', {}],
    ['POST', '/api/tokens', { kind: 'admin' }],
    ['POST', '/api/send', { to: 'ci:dev', text: 'x' }],
  ] as const
  expect(await calls(otto.page, refused)).toEqual(refused.map(() => 403))
  const reads = ['status', 'turns', 'outbox', 'doctor', 'config', 'users', 'access', 'series']
  expect(
    await calls(
      anna.page,
      reads.map((name) => ['GET', `/api/${name}`] as const),
    ),
  ).toEqual(reads.map(() => 403))
})

it('[I21.con-keys] [S15.keyboard] everything is reached by keyboard', async () => {
  const at = await begin()
  await at.hook('ci', 'deploy')
  const { page, complaints } = await at.enter()
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('next and previous row').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('heading', { name: 'Approvals' }).waitFor()
  await page.getByText('deploy --target main').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('n')
  await page.locator('.row', { hasText: 'Deploy' }).getByText('denied').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('Messages sent for this turn').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.getByLabel('Person').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('dev')
  expect(await page.getByLabel('Person').inputValue()).toBe('dev')
  expect(complaints).toEqual([])
})

it('[I21.con-try] [S15.try-it] any agent is tried, as who is signed in', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  const tried = await page.evaluate(async () => {
    const answer = await fetch('/api/agents/demo/try', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'hello from the console' }),
    })
    return (await answer.json()) as { state: string; turn: string }
  })
  expect(tried).toMatchObject({ state: 'queued', turn: expect.any(String) })
  await goTo(page, `turns/${tried.turn}`)
  await page.getByText('You said: hello from the console').waitFor()
  await page.getByText('user:kate').first().waitFor()
  expect(complaints).toEqual([])
})
