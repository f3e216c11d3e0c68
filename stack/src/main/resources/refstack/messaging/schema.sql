drop table if exists messaging_row;

create table messaging_row (
  id        text primary key,
  bytes     int  not null,
  stored_at timestamptz not null default clock_timestamp()
);
