// The console against the real daemon, in a real browser: what an operator does there, and a daemon that is killed.
import { expect, it } from 'vitest'
import { askLines, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { consoleBrowser, createConsoleScenes, goTo, picture, settled } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

it('[S14.cli-console] [I21.con-link] [I21.con-link-once] [S15.browser] the printed link signs in, once', async () => {
  const at = await begin()
  const { stdout, stderr, code } = await switchboard(at.data, 'console', '--user', 'otto')
  expect([code, stdout.trim()]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=console-ticket_/),
  ])
  expect(stderr).toContain('signs in otto (operator)')
  expect((await switchboard(at.data, 'console', '--user', 'nobody')).code).toBe(1)
  const kate = await at.enter()
  expect(kate.page.url()).not.toContain('ticket')
  await kate.page.locator('.side-foot').getByText('kate').waitFor()
  // The same link in another browser is told as what it is.
  const link = await at.link('otto')
  const first = await at.enter('otto')
  await first.page.goto(link)
  await first.page.locator('.side-foot').getByText('otto').waitFor()
  const other = await at.enter()
  await other.context.clearCookies()
  await other.page.goto('about:blank')
  await other.page.goto(link)
  await other.page.getByText('This link no longer works').waitFor()
  await kate.page.getByRole('button', { name: 'Sign out' }).click()
  await kate.page.getByText('You are not signed in').waitFor()
  expect([kate.complaints, other.complaints]).toEqual([[], []])
})

it('[I21.con-now] [I21.con-live] [I21.con-pair] [S15.approvals] a stranger is let in, and a message is watched through its states', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  await page.getByText('cannot be checked').first().waitFor()
  await page.getByText('Agent coder is absent').waitFor()
  const stranger = at.telegram.person()
  stranger.says('may I?')
  // Nobody touched the page.
  await page.getByText('1 person is waiting to be let in').click()
  await page.getByText('Waiting to be let in').waitFor()
  await page.getByRole('button', { name: /Let in to talk/ }).click()
  await until('the newcomer is told', () => stranger.sees().some((text) => text.includes('You are paired')))
  await page.getByText('No person is waiting to be let in.').waitFor()
  await page.getByText('granted by user:kate').first().waitFor()
  stranger.says('hello from Telegram')
  await goTo(page, 'turns')
  const row = page.locator('.row', { hasText: 'hello from Telegram' })
  await row.getByText('answered').waitFor()
  await row.click()
  await page.getByText('Messages sent for this turn').waitFor()
  await page.getByText('You said: hello from Telegram').waitFor()
  // Every row has an address: it survives a reload.
  await page.reload()
  await page.getByText('You said: hello from Telegram').waitFor()
  expect(complaints).toEqual([])
})

it('[I21.con-approve-two] [I21.con-approvals] [S10.surface-console] [I21.con-keys] an approval is decided in two windows, and one wins', async () => {
  const at = await begin()
  const kate = await at.enter()
  const anna = await at.enter('anna')
  await at.hook('ci', 'deploy')
  for (const { page } of [kate, anna]) {
    await goTo(page, 'approvals')
    await page.getByText('deploy --target main --to production').waitFor()
  }
  // Both press at once: the one by mouse, the other by keys alone.
  await anna.page.locator('body').press('j')
  // A mouse would wait until the button holds still, and by then it may be gone.
  const allow = await kate.page.getByRole('button', { name: /Allow/ }).elementHandle()
  await Promise.all([
    allow?.evaluate((button) => (button as unknown as { click(): void }).click()),
    anna.page.keyboard.press('y'),
  ])
  for (const { page } of [kate, anna]) {
    await page.getByText('Nothing waits for a decision.').waitFor()
    await page.locator('.row', { hasText: 'Deploy' }).getByText('allowed').waitFor()
  }
  const decided = await askLines<{ state: string; decided_by: string; decided_via: string }>(
    ...([at.data, 'approvals', 'list', '--all'] as const),
  )
  expect(decided).toHaveLength(1)
  expect(decided[0]).toMatchObject({
    decided_by: expect.stringMatching(/^user:(kate|anna)$/),
    decided_via: 'console',
  })
  await kate.page.locator('.row', { hasText: 'Deploy' }).click()
  await kate.page.getByText(decided[0]?.decided_by ?? '').waitFor()
  // The one who came too late is told so by the gateway itself.
  const late = await anna.page.evaluate(async () => {
    const listed = (await (await fetch('/api/approvals?limit=1')).json()) as { items: { id: string }[] }
    const answer = await fetch(`/api/approvals/${listed.items[0]?.id}/decide`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ behavior: 'deny' }),
    })
    return [answer.status, ((await answer.json()) as { error: string }).error]
  })
  expect(late).toEqual([409, expect.stringContaining('already answered by')])
  expect([kate.complaints, anna.complaints]).toEqual([[], []])
})

it('[I21.con-outbox] [I21.con-outbox-many] [S15.stuck] what failed is sent again or buried, one and many', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  for (const text of ['one', 'two', 'three', 'four']) await at.hook('pager', text)
  await page.getByText('4 messages could not be delivered').click()
  await page.locator('.row', { hasText: 'You said: four' }).waitFor()
  at.pager.mended = true
  await page.locator('.row', { hasText: 'You said: one' }).getByRole('button', { name: 'Again' }).click()
  await page.locator('.row', { hasText: 'You said: one' }).waitFor({ state: 'detached' })
  // The row goes when it is queued again; it arrives a moment later, and once.
  const arrived = () => at.pager.got.filter((text) => text.includes('You said: one')).length
  await until('it arrives', () => arrived() >= 2)
  expect(arrived()).toBe(2)
  // By keys: to the first row, mark it, and bury.
  await page.locator('.row', { hasText: 'You said: four' }).focus()
  await page.keyboard.press('b')
  await page.locator('.row', { hasText: 'You said: four' }).locator('.pill', { hasText: 'buried' }).waitFor()
  await page.getByLabel('mark all 2').check()
  await page.getByRole('button', { name: 'Send again' }).click()
  for (const text of ['two', 'three'])
    await page.locator('.row', { hasText: `You said: ${text}` }).waitFor({ state: 'detached' })
  await goTo(page, 'now')
  await page.getByText('messages could not be delivered').waitFor({ state: 'detached' })
  // Many at once from outside: what cannot be moved stops no other, and each is told.
  const rows = await askLines<{ id: string; state: string }>(at.data, 'outbox', '--state', 'sent,failed')
  const buried = rows.find((one) => one.state === 'failed')?.id ?? ''
  const sent = rows.find((one) => one.state === 'sent')?.id ?? ''
  const many = await switchboard(at.data, 'outbox', 'retry', sent, buried, 'o_none_1', '--json')
  const told = many.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; ok: boolean })
  expect([many.code, told.map(({ id, ok }) => [id, ok])]).toEqual([
    1,
    [
      [sent, false],
      [buried, true],
      ['o_none_1', false],
    ],
  ])
  expect(complaints).toEqual([])
})

it('[I21.con-gates] [S15.gates] [S4.refusal-in-console] [I21.con-config] [I21.con-config-check] [S3.reload-said-console] a refusal is followed to its key, and a wrong file to its line', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  const refused = await fetch(`${at.daemon.url}/hooks/ci`, {
    method: 'POST',
    headers: { 'x-sender': 'mallory' },
    body: 'let me in',
  })
  expect(refused.status).toBeLessThan(500)
  await goTo(page, 'agents/ci')
  await page.getByText('Refused messages').waitFor()
  await page
    .getByText(/^not_allowed|sender_not_allowed|not_listed/)
    .first()
    .waitFor()
  await page.locator('.gates').first().getByRole('link').first().click()
  await page.getByText('Looking for').waitFor()
  await page.locator('.yaml-wanted').first().waitFor()
  await picture(page, 'key')
  // No secret is on the page, and no path to one.
  expect(await page.locator('.yaml').first().textContent()).not.toContain(at.telegram.token)
  // A text is checked before it is written.
  await page.getByLabel('switchboard.yaml').fill('integrations:\n  - { id: x, platfrom: web }\nagents: []\n')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText('line 2, column').first().waitFor()
  await page.getByText('platform').first().waitFor()
  await page.getByLabel('switchboard.yaml').fill('integrations:\n  - { id: x, platform: web }\nagents: []\n')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText('The text is valid.').waitFor()
  // What is broken on disk is said, at its line, and on Now.
  at.writeConfig((text) => text.replace('id: ci, platform: webhook', 'id: ci, platform: webhok'))
  await switchboard(at.data, 'reload')
  await goTo(page, 'config')
  await page.getByText('Rejected: the file on disk is not valid').waitFor()
  await page.locator('.yaml-wrong').waitFor()
  await goTo(page, 'now')
  await page.getByText('rejected: the file on disk is not valid').waitFor()
  at.writeConfig((text) => text.replace('webhok', 'webhook'))
  await switchboard(at.data, 'reload')
  await page.getByText('rejected: the file on disk is not valid').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

it('[I21.con-restart] the daemon is killed: the page says so, comes back, and shows what happened meanwhile', async () => {
  const at = await begin()
  const { page } = await at.enter()
  await goTo(page, 'turns')
  await at.hook('ci', 'before the kill')
  await page.getByText('before the kill').first().waitFor()
  await at.kill()
  await page.locator('.side-foot').getByText('reconnecting…').waitFor()
  // What was known stays.
  expect(await page.getByText('before the kill').count()).toBeGreaterThan(0)
  await at.start()
  await at.hook('ci', 'after the kill')
  await page.getByText('after the kill').first().waitFor()
  await page.locator('.side-foot').getByText('live', { exact: true }).waitFor()
})

it('[I21.con-turns] [I21.con-turn] [I21.con-export] [I21.con-verify] [I21.con-charts] [S15.turn-log] the turn log is filtered, drawn, exported and proven', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  for (const text of ['=1+1', 'plain']) await at.hook('ci', text)
  await at.hook('pager', 'other source')
  await goTo(page, 'turns')
  await page.locator('.row', { hasText: 'other source' }).waitFor()
  await page.getByLabel('Source').selectOption('webhook:ci')
  await page.locator('.row', { hasText: 'other source' }).waitFor({ state: 'detached' })
  await expect.poll(() => page.locator('.row').count()).toBe(2)
  await page.getByLabel('State').selectOption('refused')
  await page.getByText('No turn matches.').waitFor()
  await page.getByLabel('State').selectOption('answered')
  await page.getByLabel('Person').fill('dev')
  await page.locator('.row', { hasText: 'plain' }).waitFor()
  await page.getByLabel('Person').fill('somebody else')
  await page.getByText('No turn matches.').waitFor()
  await page.getByLabel('Person').fill('dev')
  await page.locator('.row', { hasText: 'plain' }).waitFor()
  await page.locator('.chart canvas').first().waitFor()
  await page.getByText('as a table').first().click()
  await page.getByRole('table').first().getByText('received').waitFor()
  const downloads = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV', exact: true }).click(),
  ])
  const stream = await downloads[0].createReadStream()
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const csv = Buffer.concat(chunks).toString('utf8')
  expect(csv.split('\r\n')).toHaveLength(4)
  expect(csv).toContain(",'=1+1\r\n")
  expect(csv).not.toContain('other source')
  const printed = await switchboard(at.data, 'turns', 'export', '--source', 'webhook:ci', '--sender', 'dev')
  expect(
    printed.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text),
  ).toEqual(['plain', '=1+1'])
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('The ledger is correct').waitFor()
  expect(complaints).toEqual([])
})

it('[I21.con-people] [I21.con-people-data] [I21.con-strings] rights are given with their reason, and a person’s data written out and erased', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  await at.hook('ci', 'something personal')
  await goTo(page, 'people')
  await page.getByText('integrations[1].access.allow_from').first().waitFor()
  const form = page.getByRole('form', { name: 'Allow a sender' })
  await form.getByLabel('Integration').selectOption('tg')
  await form.getByLabel('Sender').fill('4711')
  await form.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('granted by user:kate').waitFor()
  await page.locator('li', { hasText: '4711' }).getByRole('button', { name: 'Take back' }).click()
  await page.getByText('granted by user:kate').waitFor({ state: 'detached' })
  const data = page.getByRole('form', { name: 'A person’s data' })
  await data.getByLabel('Who').fill('ci:dev')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    data.getByRole('link', { name: 'Export' }).click(),
  ])
  const stream = await file.createReadStream()
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  expect(text).toContain('something personal')
  await data.getByLabel('To erase, type ERASE').fill('ERASE')
  await data.getByRole('button', { name: 'Erase' }).click()
  await page.getByText(/Erased ci:dev: 1 messages/).waitFor()
  await goTo(page, 'turns')
  await settled(page)
  expect(await page.getByText('something personal').count()).toBe(0)
  // A connection string: shown once, and dead when it is rotated.
  await goTo(page, 'agents/front')
  await page.getByRole('button', { name: 'Create' }).click()
  const shown = page.getByLabel('This secret is shown only once. Paste it into the service.')
  await expect.poll(() => shown.inputValue()).toMatch(/^http/)
  const first = await shown.inputValue()
  await page.getByRole('button', { name: /Rotate/ }).click()
  await expect.poll(() => shown.inputValue()).not.toBe(first)
  const minted = await askLines<{ kind: string; revoked: boolean }>(at.data, 'chorus', 'list')
  expect(minted.map((one) => one.revoked).sort()).toEqual([false, true])
  expect(complaints).toEqual([])
})
