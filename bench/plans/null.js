// k6 gets one page: closed with BENCH_USERS, or BENCH_RATE arrivals a second. Bodies are not kept.
import http from 'k6/http';

const seconds = `${__ENV.BENCH_SECONDS}s`;
const users = Number(__ENV.BENCH_USERS);
const rate = Number(__ENV.BENCH_RATE || 0);

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(90)', 'p(99)', 'p(99.9)'],
  scenarios: {
    load: rate
      ? { executor: 'constant-arrival-rate', rate: rate, timeUnit: '1s', duration: seconds,
          preAllocatedVUs: users, maxVUs: users, gracefulStop: '3s' }
      : { executor: 'constant-vus', vus: users, duration: seconds, gracefulStop: '1s' },
  },
};

export default function () {
  http.get(__ENV.BENCH_URL);
}

export function handleSummary(data) {
  return { [__ENV.BENCH_OUT]: JSON.stringify(data) };
}
