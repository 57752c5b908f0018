// Who sees and may do what in the console, in a real browser: a viewer, two operators at once, rights lost in mid-hold, a
// slow network and a platform that says no.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { askJson, askLines, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import {
  type ConsoleScene,
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

/** Somebody on Telegram who was let in and answered. */
async function telegramUser(at: ConsoleScene) {
  const person = at.telegram.person()
  person.says('may I?')
  const pairings = () => askLines<{ code: string }>(at.data, 'pair', 'list')
  const [asked] = await until('a code', async () => ((await pairings()).length > 0 ? pairings() : null))
  await switchboard(at.data, 'pair', 'approve', asked?.code ?? '')
  await until('paired', () => person.sees().some((text) => text.includes('You are paired')))
  person.says('I need help')
  await until('answered', () => person.sees().includes('You said: I need help'))
  const [there] = await askLines<{ address: string }>(at.data, 'conversations', 'list', '--integration', 'tg')
  return { person, address: there?.address ?? '' }
}

const open = async (page: Page, address: string) => {
  await goTo(page, `conversations/${encodeURIComponent(address)}`)
  await page.getByLabel('Stepping in').waitFor()
}

const post = (page: Page, path: string, body: unknown = {}) =>
  page.evaluate(
    async ([to, given]) => {
      const answer = await fetch(to as string, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given),
      })
      return answer.status
    },
    [path, body] as const,
  )

it('[I21.viewer] [I21.con-roles] a viewer reads every page, sees no button that acts, and is refused whatever they call', async () => {
  const at = await begin()
  const { address } = await telegramUser(at)
  await at.hook('pager', 'this will fail')
  await at.hook('ci', 'deploy')
  const { page, complaints } = await at.enter('vera')
  const seen: string[] = []
  for (const place of PAGES) {
    await goTo(page, place)
    await settled(page)
    const { hash } = new URL(page.url())
    seen.push(...(await page.locator('main button').allTextContents()))
    await picture(page, `viewer-${place}-${hash.slice(2)}`)
    expect([place, await violations(page)]).toEqual([place, []])
  }
  // What only looks: filters, more, the check of a text that is written nowhere, and the proof of the ledger.
  const looks = /^(show all|show less|Earlier|Newest|Check|Verify|CSV|NDJSON|as a table)/
  expect(seen.filter((text) => !looks.test(text))).toEqual([])
  await goTo(page, 'approvals')
  await page.locator('.card, .row').first().waitFor()
  expect(await page.locator('main').textContent()).not.toContain('--target main')
  await goTo(page, `conversations/${encodeURIComponent(address)}`)
  await page.getByText('You said: I need help').waitFor()
  expect(await page.locator('main button, main textarea').count()).toBe(0)
  const [turn] = await askLines<{ id: string }>(at.data, 'turns')
  // The notice that tells of it goes the same way, and fails too when its time comes.
  const failed = async () =>
    (await askLines<{ id: string; cause: string }>(at.data, 'outbox', '--state', 'failed')).filter(
      ({ cause }) => cause !== 'notice',
    )
  const before = await failed()
  expect(before).toMatchObject([{ cause: 'reply', attempts: 1 }])
  const [send] = before
  const [approval] = await askLines<{ id: string }>(at.data, 'approvals', 'list')
  const acts: readonly (readonly [string, unknown?])[] = [
    [`/api/conversations/${encodeURIComponent(address)}/take`],
    [`/api/conversations/${encodeURIComponent(address)}/say`, { text: 'x' }],
    [`/api/conversations/${encodeURIComponent(address)}/give`, { force: true }],
    [`/api/approvals/${approval?.id}/decide`, { behavior: 'allow' }],
    [`/api/turns/${turn?.id}/retry`],
    [`/api/turns/${turn?.id}/cancel`],
    [`/api/outbox/${send?.id}/retry`],
    [`/api/outbox/${send?.id}/bury`],
    ['/api/outbox/operate', { verb: 'retry', ids: [send?.id] }],
    ['/api/access/grant', { integration: 'tg', sender: '1', right: 'talk' }],
    ['/api/access/revoke', { integration: 'tg', sender: '1', right: 'talk' }],
    ['/api/people/erase', { who: 'ci:dev' }],
    ['/api/chorus/front/connect'],
    ['/api/agents/demo/try', { text: 'hello' }],
    ['/api/send', { to: 'ci:dev', text: 'x' }],
    ['/api/tokens', { kind: 'admin' }],
    ['/api/console-link', {}],
    ['/api/reload'],
  ]
  const refused: (readonly [string, number])[] = []
  for (const [path, body] of acts) refused.push([path, await post(page, path, body)])
  expect(refused).toEqual(acts.map(([path]) => [path, 403]))
  expect(await failed()).toEqual(before)
  expect((await askJson<{ held: number }>(at.data, 'status')).held).toBe(0)
  expect(complaints).toEqual([])
})

it('[I21.con-step-in] [I21.one-winner] two operators take it at once: one has it, the other is told, and neither speaks twice', async () => {
  const at = await begin()
  const { person, address } = await telegramUser(at)
  const kate = await at.enter()
  const otto = await at.enter('otto')
  for (const { page } of [kate, otto]) await open(page, address)
  await Promise.all(
    [kate, otto].map(({ page }) =>
      page.getByRole('button', { name: 'Take over' }).click({ noWaitAfter: true }),
    ),
  )
  const has = (page: Page) => page.getByText('You have this conversation.').count()
  await expect.poll(async () => (await has(kate.page)) + (await has(otto.page))).toBe(1)
  const [winner, loser] = (await has(kate.page)) === 1 ? [kate, otto] : [otto, kate]
  await loser.page.getByText(/^Held by (kate|otto) since/).waitFor()
  await loser.page.getByRole('button', { name: 'Take it from them' }).waitFor()
  // A long word is on its way while the other takes the place: what was typed stays, and the loss is told.
  await winner.page.getByLabel('Write as a person').fill('I look it up for you.')
  await loser.page.getByRole('button', { name: 'Take it from them' }).click()
  await loser.page.getByText('You have this conversation.').waitFor()
  await winner.page.getByText(/^Held by (kate|otto) since/).waitFor()
  await winner.page.getByRole('button', { name: 'Take it from them' }).click()
  await winner.page.getByText('You have this conversation.').waitFor()
  expect(await winner.page.getByLabel('Write as a person').inputValue()).toBe('I look it up for you.')
  await winner.page.keyboard.press('?')
  const keys = winner.page.getByRole('dialog', { name: 'Keys' })
  await keys.waitFor()
  await winner.page.keyboard.press('Escape')
  await keys.waitFor({ state: 'hidden' })
  await winner.page.getByRole('button', { name: 'Send' }).click()
  const said = () => person.sees().filter((text) => text.includes('I look it up for you.')).length
  await until('it is said', () => said() > 0)
  await winner.page.getByRole('button', { name: 'Give back' }).click()
  await loser.page.getByText('The agent answers here.').waitFor()
  person.says('and now?')
  await until('the agent is back', () => person.sees().some((text) => text.includes('and now?')))
  expect(said()).toBe(1)
  expect([kate.complaints, otto.complaints]).toEqual([[], []])
})

it('[I21.say-once] [I21.con-step-in] an answer of the gateway that is lost, words typed meanwhile, and a platform that says no', async () => {
  const at = await begin()
  const { person, address } = await telegramUser(at)
  const { page } = await at.enter()
  await open(page, address)
  await page.getByRole('button', { name: 'Take over' }).click()
  const box = page.getByLabel('Write as a person')
  await box.waitFor()
  // The gateway took it, and its answer never comes: pressed again it is the same message.
  const keys: string[] = []
  await page.route('**/say', async (route) => {
    keys.push((route.request().postDataJSON() as { idempotency_key: string }).idempotency_key)
    await route.fetch()
    await route.abort()
  })
  await box.fill('One word.')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('the gateway cannot be reached').waitFor()
  expect(await box.inputValue()).toBe('One word.')
  await page.unroute('**/say')
  // Slow: what is typed while it is on its way stays there.
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route('**/say', async (route) => {
    keys.push((route.request().postDataJSON() as { idempotency_key: string }).idempotency_key)
    await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'Send' }).click()
  await box.fill('Another thought')
  go()
  await page.getByRole('button', { name: 'Send' }).and(page.locator(':enabled')).waitFor()
  expect(await box.inputValue()).toBe('Another thought')
  await page.unroute('**/say')
  expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  const said = (text: string) => person.sees().filter((one) => one.includes(text)).length
  await until('it is said', () => said('One word.') > 0)
  // What the platform refuses is told, stays in the box, and is another message when it is tried again.
  at.telegram.plan([{ on: 'sendMessage', do: 'error', status: 403, times: 1 }])
  await page.getByRole('button', { name: 'Send' }).click()
  await page.locator('.step .outcome-bad').waitFor()
  expect(await box.inputValue()).toBe('Another thought')
  await page.getByRole('button', { name: 'Send' }).click()
  await until('it is said then', () => said('Another thought') > 0)
  await expect.poll(() => box.inputValue()).toBe('')
  expect([said('One word.'), said('Another thought')]).toEqual([1, 1])
})

it('[I21.right-lost] [I21.con-roles-now] a holder who is no longer a user, or whose token is revoked, holds nothing', async () => {
  const at = await begin()
  const { address } = await telegramUser(at)
  const otto = await at.enter('otto')
  await open(otto.page, address)
  await otto.page.getByRole('button', { name: 'Take over' }).click()
  await otto.page.getByText('You have this conversation.').waitFor()
  at.writeConfig((text) => text.replace('  - { id: otto, roles: [operator] }\n', ''))
  await switchboard(at.data, 'reload')
  await otto.page.getByText('You are not signed in').waitFor()
  const ended = async () => {
    const shown = await askJson<{ thread: { kind: string; ended?: { how: string } | null }[] }>(
      ...([at.data, 'conversations', 'show', address] as const),
    )
    return shown.thread.filter((one) => one.kind === 'takeover').map((one) => one.ended?.how)
  }
  await expect.poll(ended, { timeout: 60_000 }).toEqual(['right_lost'])
  // By a token of its own, over the API.
  const minted = await askJson<{ token: string; id: string }>(at.data, 'token', 'mint', '--kind', 'admin')
  const take = await fetch(`${at.daemon.url}/api/conversations/${encodeURIComponent(address)}/take`, {
    method: 'POST',
    headers: { authorization: `Bearer ${minted.token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  expect(take.status).toBe(200)
  expect((await askJson<{ held: number }>(at.data, 'status')).held).toBe(1)
  await switchboard(at.data, 'token', 'revoke', minted.id)
  await expect.poll(ended, { timeout: 60_000 }).toEqual(['right_lost', 'right_lost'])
})
