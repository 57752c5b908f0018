// Events of Gitea: docs.gitea.com, "Webhooks".
import { JSON_TYPE, type Samples } from './sample.ts'

const repository = {
  id: 140,
  full_name: 'gitea/webhooks',
  html_url: 'https://gitea.example.com/gitea/webhooks',
}
const sender = { id: 1, login: 'gitea', email: 'someone@gitea.example.com' }
const headers = (event: string, delivery: string) => ({
  ...JSON_TYPE,
  'x-gitea-event': event,
  'x-gitea-delivery': delivery,
  'x-github-event': event,
  'x-github-delivery': delivery,
})
const issue = {
  number: 3,
  title: 'The page is blank',
  body: 'After the update the page stays blank.',
  html_url: 'https://gitea.example.com/gitea/webhooks/issues/3',
}

export const gitea: Samples = {
  push: {
    headers: headers('push', 'f6266f16-1bf3-46a5-9ea4-602e06ead473'),
    body: {
      ref: 'refs/heads/develop',
      compare_url: 'https://gitea.example.com/gitea/webhooks/compare/28e1879...bffeb74',
      commits: [{ id: 'bffeb74224043ba2feb48d137756c8a9331c449a', message: 'Webhooks Yay!\n' }],
      repository,
      pusher: sender,
      sender,
    },
  },
  issues: {
    headers: headers('issues', 'f6266f16-1bf3-46a5-9ea4-602e06ead474'),
    body: { action: 'opened', number: 3, issue, repository, sender },
  },
  issue_comment: {
    headers: headers('issue_comment', 'f6266f16-1bf3-46a5-9ea4-602e06ead475'),
    body: {
      action: 'created',
      issue,
      comment: { id: 9, body: 'It is the cache.', html_url: `${issue.html_url}#issuecomment-9` },
      repository,
      sender,
    },
  },
  pull_request: {
    headers: headers('pull_request', 'f6266f16-1bf3-46a5-9ea4-602e06ead476'),
    body: {
      action: 'closed',
      number: 4,
      pull_request: {
        number: 4,
        title: 'Clear the cache',
        merged: true,
        html_url: 'https://gitea.example.com/gitea/webhooks/pulls/4',
      },
      repository,
      sender,
    },
  },
  pull_request_rejected: {
    headers: headers('pull_request_rejected', 'f6266f16-1bf3-46a5-9ea4-602e06ead477'),
    body: {
      action: 'reviewed',
      number: 4,
      pull_request: {
        number: 4,
        title: 'Clear the cache',
        html_url: 'https://gitea.example.com/gitea/webhooks/pulls/4',
      },
      review: { type: 'pull_request_review_rejected', content: 'The test is missing.' },
      repository,
      sender,
    },
  },
}
